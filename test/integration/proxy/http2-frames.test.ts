// What RFC 9113 sections 3 to 6 ask of a server, frame by frame.
import { describe, expect, it } from 'vitest';
import {
  block,
  CODE,
  content,
  FLAG,
  FRAME,
  frame,
  GET,
  headers,
  POST,
  PREFACE,
  ping,
  reset,
  SETTING,
  settings,
  windowUpdate,
  word,
} from '../../support/http2-frames.ts';
import { endHttp2AfterEach, http2GatewayFor, rawSessionTo } from '../../support/http2-scene.ts';
import { RawHttp2Client } from '../../support/raw-http2-client.ts';
import { answering, OK } from '../../support/raw-upstream.ts';
import { endAfterEach, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();

async function gateway() {
  const upstream = await upstreamThat(answering(OK));
  return http2GatewayFor({ endpoints: [upstream.port] });
}

/** A request whose content is still to come. */
const OPEN = headers(1, POST, 0);
const DONE = headers(1, GET);

const connectionError = (code: number) => `goaway ${code}`;
const ANSWERED = 'status 200';

type Row = readonly [section: string, what: string, octets: readonly Buffer[], fate: string];

/**
 * An error of a stream may be taken for one of the connection (section 5.4.1), as nghttp2 does with most: the session of a
 * client that breaks the rules of frames ends.
 */
const ENDING_THE_SESSION: readonly Row[] = [
  [
    '4.2',
    'DATA larger than the frame size that was announced',
    [OPEN, frame(FRAME.data, 1, 1, Buffer.alloc(16_385))],
    connectionError(CODE.frameSize),
  ],
  [
    '4.2',
    'HEADERS larger than the frame size that was announced',
    [frame(FRAME.headers, 5, 1, Buffer.alloc(16_385))],
    connectionError(CODE.frameSize),
  ],
  [
    '4.3',
    'a header block that does not decode',
    [frame(FRAME.headers, 5, 1, Buffer.alloc(5, 0xff))],
    connectionError(CODE.compression),
  ],
  [
    '4.3',
    'a frame of another stream within a header block',
    [frame(FRAME.headers, 1, 1, block(GET)), headers(3, GET)],
    connectionError(CODE.protocol),
  ],
  ['5.1', 'DATA on an idle stream', [content(1, 'x')], connectionError(CODE.protocol)],
  ['5.1', 'RST_STREAM on an idle stream', [reset(1)], connectionError(CODE.protocol)],
  ['5.1', 'WINDOW_UPDATE on an idle stream', [windowUpdate(1, 5)], connectionError(CODE.protocol)],
  ['5.1', 'DATA on a stream that the client has ended', [DONE, content(1, 'x')], connectionError(CODE.streamClosed)],
  ['5.1', 'HEADERS on a stream that the client has ended', [DONE, DONE], connectionError(CODE.streamClosed)],
  ['5.1.1', 'a stream with an even identifier', [headers(2, GET)], connectionError(CODE.protocol)],
  [
    '5.5',
    'an unknown frame within a header block',
    [frame(FRAME.headers, 1, 1, block(GET)), frame(0x16, 0, 0)],
    connectionError(CODE.protocol),
  ],
  ['6.1', 'DATA on stream 0', [content(0, 'x')], connectionError(CODE.protocol)],
  [
    '6.1',
    'DATA with more padding than it has octets',
    [OPEN, frame(FRAME.data, 9, 1, Buffer.from([5, 1, 1]))],
    connectionError(CODE.protocol),
  ],
  [
    '6.1',
    'DATA whose padding takes all its octets',
    [OPEN, frame(FRAME.data, 9, 1, Buffer.from([3, 1, 1]))],
    connectionError(CODE.protocol),
  ],
  ['6.2', 'HEADERS on stream 0', [headers(0, GET)], connectionError(CODE.protocol)],
  [
    '6.2',
    'HEADERS with more padding than it has octets',
    [frame(FRAME.headers, 0xd, 1, Buffer.concat([Buffer.from([255]), block(GET)]))],
    connectionError(CODE.protocol),
  ],
  [
    '6.2',
    'DATA within a header block',
    [frame(FRAME.headers, 0, 1, block(GET)), content(1, 'x')],
    connectionError(CODE.protocol),
  ],
  [
    '6.3',
    'PRIORITY of a wrong length',
    [DONE, frame(FRAME.priority, 0, 1, Buffer.alloc(4))],
    connectionError(CODE.frameSize),
  ],
  ['6.4', 'RST_STREAM on stream 0', [reset(0)], connectionError(CODE.protocol)],
  [
    '6.4',
    'RST_STREAM of a wrong length',
    [OPEN, frame(FRAME.reset, 0, 1, Buffer.alloc(3))],
    connectionError(CODE.frameSize),
  ],
  ['6.5', 'SETTINGS on a stream', [frame(FRAME.settings, 0, 1)], connectionError(CODE.protocol)],
  [
    '6.5',
    'SETTINGS of a length that six does not divide',
    [frame(FRAME.settings, 0, 0, Buffer.alloc(5))],
    connectionError(CODE.frameSize),
  ],
  [
    '6.5',
    'an acknowledgement of SETTINGS with a payload',
    [frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(6))],
    connectionError(CODE.frameSize),
  ],
  ['6.5.2', 'ENABLE_PUSH other than 0 and 1', [settings([SETTING.enablePush, 2])], connectionError(CODE.protocol)],
  [
    '6.5.2',
    'INITIAL_WINDOW_SIZE above 2^31-1',
    [settings([SETTING.initialWindow, 0x80_00_00_00])],
    connectionError(CODE.flowControl),
  ],
  ['6.5.2', 'MAX_FRAME_SIZE below 2^14', [settings([SETTING.maxFrameSize, 16_383])], connectionError(CODE.protocol)],
  [
    '6.5.2',
    'MAX_FRAME_SIZE above 2^24-1',
    [settings([SETTING.maxFrameSize, 16_777_216])],
    connectionError(CODE.protocol),
  ],
  [
    '6.6',
    'PUSH_PROMISE from a client',
    [frame(FRAME.pushPromise, 4, 1, Buffer.concat([word(2), block(GET)]))],
    connectionError(CODE.protocol),
  ],
  ['6.7', 'PING on a stream', [frame(FRAME.ping, 0, 1, Buffer.alloc(8))], connectionError(CODE.protocol)],
  ['6.7', 'PING of a wrong length', [frame(FRAME.ping, 0, 0, Buffer.alloc(7))], connectionError(CODE.frameSize)],
  ['6.8', 'GOAWAY on a stream', [frame(FRAME.goaway, 0, 1, Buffer.alloc(8))], connectionError(CODE.protocol)],
  [
    '6.9',
    'WINDOW_UPDATE of a wrong length',
    [frame(FRAME.windowUpdate, 0, 0, Buffer.alloc(3))],
    connectionError(CODE.frameSize),
  ],
  ['6.9', 'WINDOW_UPDATE by 0 for the connection', [windowUpdate(0, 0)], connectionError(CODE.protocol)],
  ['6.9', 'WINDOW_UPDATE by 0 for a stream', [OPEN, windowUpdate(1, 0)], connectionError(CODE.protocol)],
  [
    '6.9.1',
    'a window of the connection above 2^31-1',
    [windowUpdate(0, 0x7f_ff_ff_ff)],
    connectionError(CODE.flowControl),
  ],
  [
    '6.9.1',
    'a window of a stream above 2^31-1',
    [OPEN, windowUpdate(1, 0x7f_ff_ff_ff)],
    connectionError(CODE.flowControl),
  ],
  [
    '6.9.2',
    'SETTINGS that make a window exceed 2^31-1',
    [OPEN, windowUpdate(1, 0x7f_ff_00_00), settings([SETTING.initialWindow, 0x7f_ff_ff_ff])],
    connectionError(CODE.flowControl),
  ],
  [
    '6.10',
    'CONTINUATION without a header block',
    [frame(FRAME.continuation, 4, 1, block(GET))],
    connectionError(CODE.protocol),
  ],
  [
    '6.10',
    'CONTINUATION after END_HEADERS',
    [DONE, frame(FRAME.continuation, 4, 1, block(GET))],
    connectionError(CODE.protocol),
  ],
  // No section asks for these two. The first is node:http2's own, the second is from RFC 7540.
  [
    '6.7',
    'an acknowledgement of a PING that was not sent',
    [ping('87654321', FLAG.ack)],
    connectionError(CODE.internal),
  ],
  [
    '5.3',
    'a stream that depends on itself',
    [frame(FRAME.headers, 0x25, 1, Buffer.concat([word(1), Buffer.from([5]), block(GET)]))],
    connectionError(CODE.protocol),
  ],
];

const PADDED = Buffer.concat([Buffer.from([3]), block(GET), Buffer.alloc(3)]);
const SPLIT: readonly Buffer[] = [
  frame(FRAME.headers, FLAG.endStream, 1, block(GET.slice(0, 2))),
  frame(FRAME.continuation, 0, 1, block(GET.slice(2, 3))),
  frame(FRAME.continuation, FLAG.endHeaders, 1, block(GET.slice(3))),
];

const ANSWERED_ALL_THE_SAME: readonly Row[] = [
  ['3.4', 'settings that come with the request', [settings([SETTING.initialWindow, 70_000]), DONE], ANSWERED],
  ['4.1', 'a frame of unknown type', [frame(0x16, 0xff, 0, Buffer.alloc(8)), DONE], ANSWERED],
  ['4.1', 'flags that mean nothing for the frame', [headers(1, GET, 0xc3)], ANSWERED],
  ['4.1', 'the reserved bit of a stream identifier', [headers(0x80_00_00_01, GET)], ANSWERED],
  ['5.1', 'PRIORITY on an idle stream', [frame(FRAME.priority, 0, 3, Buffer.alloc(5)), DONE], ANSWERED],
  [
    '5.3',
    'a priority within HEADERS',
    [frame(FRAME.headers, 0x25, 1, Buffer.concat([word(0), Buffer.from([5]), block(GET)]))],
    ANSWERED,
  ],
  ['6.1', 'padded DATA', [OPEN, frame(FRAME.data, 9, 1, Buffer.from([2, 65, 0, 0]))], ANSWERED],
  ['6.1', 'empty DATA that ends the stream', [OPEN, content(1, '')], ANSWERED],
  ['6.2', 'padded HEADERS', [frame(FRAME.headers, 0xd, 1, PADDED)], ANSWERED],
  ['6.5.2', 'an unknown setting', [settings([0xff, 1]), DONE], ANSWERED],
  ['6.9', 'the reserved bit of WINDOW_UPDATE', [windowUpdate(0, 0x80_00_00_01), DONE], ANSWERED],
  ['6.10', 'a head in several frames', SPLIT, ANSWERED],
];

describe('RFC 9113: the session ends for', () => {
  it.each(ENDING_THE_SESSION)('%s %s', async (_section, _what, octets, fate) => {
    const { port } = await gateway();
    const client = await rawSessionTo(port);
    client.send(...octets);
    expect(await client.fateOf(1)).toBe(fate);
    await client.untilClosed();
  });
});

describe('RFC 9113: the request is answered with', () => {
  it.each(ANSWERED_ALL_THE_SAME)('%s %s', async (_section, _what, octets, fate) => {
    const { port } = await gateway();
    const client = await rawSessionTo(port);
    client.send(...octets);
    expect(await client.fateOf(1)).toBe(fate);
  });
});

describe('RFC 9113: beyond what the sections ask, nghttp2 lets pass', () => {
  // Each of them should end the session or the stream; all that nghttp2 does is to pay no attention.
  it.each<readonly [string, string, readonly Buffer[], number]>([
    ['5.1', 'DATA on a stream that the client has reset', [OPEN, reset(1), content(1, 'x')], 3],
    ['5.1', 'HEADERS on a stream that the client has reset', [OPEN, reset(1), headers(1, [['a', 'b']])], 3],
    ['5.1.1', 'a stream identifier that is less than the one before', [headers(5, GET), headers(3, GET)], 7],
    ['6.3', 'PRIORITY on stream 0', [frame(FRAME.priority, 0, 0, Buffer.alloc(5))], 3],
  ])('%s %s: it is ignored, the session goes on', async (_section, _what, octets, next) => {
    const { port, records } = await gateway();
    const client = await rawSessionTo(port);
    client.send(...octets, headers(next, GET));
    expect(await client.fateOf(next)).toBe(ANSWERED);
    expect(records.length).toBeLessThanOrEqual(2);
  });
});

describe('RFC 9113', () => {
  it('3.4 something else than the preface is no session', async () => {
    const { port, records } = await gateway();
    const client = await RawHttp2Client.silent(port);
    client.send(Buffer.from('GET / HTTP/1.1\r\nHost: s\r\n\r\n'));
    await client.untilClosed();
    expect(records).toEqual([]);
  });

  it('3.4 the preface is followed by SETTINGS, and nothing else', async () => {
    const { port } = await gateway();
    const client = await RawHttp2Client.silent(port);
    client.send(PREFACE, DONE);
    expect(await client.fateOf(1)).toBe(connectionError(CODE.protocol));
  });

  it('3.4 the server begins with its SETTINGS', async () => {
    const { port } = await gateway();
    const client = await rawSessionTo(port);
    await client.until(({ type }) => type === FRAME.settings);
    expect(client.frames[0]).toMatchObject({ type: FRAME.settings, flags: 0, streamId: 0 });
  });

  it('5.1.2 a stream beyond the number that is allowed is refused, and the others are answered', async () => {
    const upstream = await upstreamThat(() => undefined);
    const { port } = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(port);
    client.send(...Array.from({ length: 101 }, (_, at) => headers(2 * at + 1, GET)));
    expect(await client.fateOf(201)).toBe(`reset ${CODE.refused}`);
    await waitFor(() => upstream.connections.length === 100, { limitMs: 5000, what: 'the other requests' });
    for (const { socket } of upstream.connections) socket.write(OK);
    expect(await client.fateOf(199)).toBe(ANSWERED);
  });

  it('6.5.3 SETTINGS are acknowledged', async () => {
    const { port } = await gateway();
    const client = await rawSessionTo(port);
    client.send(settings([SETTING.maxStreams, 1]));
    const acks = () => client.frames.filter(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack);
    await waitFor(() => acks().length === 2, { limitMs: 2000, what: 'an acknowledgement of each' });
  });

  it('6.7 a PING is answered with the same octets', async () => {
    const { port } = await gateway();
    const client = await rawSessionTo(port);
    client.send(ping('abcdefgh'));
    const answer = await client.until(({ type, flags }) => type === FRAME.ping && flags === FLAG.ack);
    expect(answer?.payload.toString()).toBe('abcdefgh');
  });

  it('6.9 content is held back until the client gives it a window, of the stream and of the connection', async () => {
    const upstream = await upstreamThat(
      answering(`HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`),
    );
    const { port } = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(port, [SETTING.initialWindow, 10]);
    client.send(DONE);
    await waitFor(() => client.content(1).length === 10, { limitMs: 2000, what: 'what the stream lets pass' });
    client.send(windowUpdate(1, 90_000), ping());
    await waitFor(() => client.content(1).length === 65_535, { limitMs: 2000, what: 'what the connection lets pass' });
    client.send(windowUpdate(0, 90_000));
    expect(await client.fateOf(1)).toBe(ANSWERED);
    expect(client.content(1)).toHaveLength(70_000);
  });

  it('6.9.2 a smaller window for all streams may make one negative: it waits until it is positive again', async () => {
    const upstream = await upstreamThat(answering(`HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n${'x'.repeat(30)}`));
    const { port } = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(port, [SETTING.initialWindow, 10]);
    client.send(DONE);
    await waitFor(() => client.content(1).length === 10, { limitMs: 2000, what: 'what the stream lets pass' });
    client.send(settings([SETTING.initialWindow, 0]), windowUpdate(1, 10), ping());
    await client.until(({ type }) => type === FRAME.ping);
    expect(client.content(1)).toHaveLength(10);
    client.send(windowUpdate(1, 20));
    expect(await client.fateOf(1)).toBe(ANSWERED);
  });

  it('4.2 content leaves in frames that the client can take', async () => {
    const upstream = await upstreamThat(
      answering(`HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n${'x'.repeat(40_000)}`),
    );
    const { port } = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(port);
    client.send(DONE);
    expect(await client.fateOf(1)).toBe(ANSWERED);
    expect(Math.max(...client.frames.map(({ payload }) => payload.length))).toBeLessThanOrEqual(16_384);
  });
});
