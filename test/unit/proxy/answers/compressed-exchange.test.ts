// The order of things when an answer is compressed: what is told to whom, and when.
import { once } from 'node:events';
import { createGunzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { FieldTable } from '../../../../gateway/http1/field-table.ts';
import { CompressedExchange } from '../../../../gateway/proxy/answers/compressed-exchange.ts';
import { prepareCompression } from '../../../../gateway/proxy/answers/compression.ts';
import { describePeer } from '../../../../gateway/proxy/client-address.ts';
import type { AnswerHead, Exchange, ExchangeEvents } from '../../../../gateway/proxy/exchange.ts';
import { proseOf } from '../../../support/encoded-answer.ts';

/** A client that accepts gzip and reads as the test says. */
class ScriptedExchange implements Exchange {
  readonly method = 'GET';
  readonly target = '/';
  readonly host = 's';
  readonly fields = new FieldTable(1);
  readonly peer = describePeer('127.0.0.1', () => false);
  readonly announcedBytes = 0;
  readonly version = '1.1';
  readonly isUpgrade = false;
  isHeadSent = false;
  readonly isHolding = false;
  contentBytes = 0;
  isReading = true;
  events: ExchangeEvents | undefined;
  readonly octets: Buffer[] = [];
  readonly told: string[] = [];

  header(name: string): string | undefined {
    return name === 'accept-encoding' ? 'gzip' : undefined;
  }

  openContent(): null {
    return null;
  }

  listen(events: ExchangeEvents): void {
    this.events = events;
  }

  sendInterim(): void {
    this.told.push('interim');
  }

  sendHead({ framing }: AnswerHead): void {
    this.isHeadSent = true;
    this.told.push(`head ${framing.kind}`);
  }

  write(octets: Buffer): boolean {
    this.contentBytes += octets.length;
    this.octets.push(octets);
    return this.isReading;
  }

  flush(): boolean {
    return this.isReading;
  }

  end(): void {
    this.told.push('end');
  }

  breakOff(): void {
    this.told.push('break off');
  }
}

interface Scene {
  readonly client: ScriptedExchange;
  readonly answer: CompressedExchange;
}

function sceneOf(): Scene {
  const client = new ScriptedExchange();
  const answer = new CompressedExchange(client, prepareCompression(['gzip']));
  answer.listen({
    onDrain: () => client.told.push('go on'),
    onGone: () => client.told.push('gone'),
    onContentTooLarge: () => client.told.push('too large'),
  });
  const lines = 'Content-Type: text/plain\r\n';
  answer.sendHead({ status: 200, reason: 'OK', lines, hasDate: true, framing: { kind: 'chunked' } });
  return { client, answer };
}

/** Lets the thread pool work until the condition holds. */
async function until(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000_000; turn++) {
    if (isTrue()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('in vain');
}

/** Octets that do not get shorter, so that the encoder has much to give. */
function noise(bytes: number): Buffer {
  const octets = Buffer.alloc(bytes);
  for (let at = 0, seed = 7; at < bytes; at++) {
    seed = (seed * 48_271) % 2_147_483_647;
    octets[at] = seed >> 8;
  }
  return octets;
}

async function textOf(client: ScriptedExchange): Promise<string> {
  const decoder = createGunzip();
  let text = '';
  decoder.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  decoder.end(Buffer.concat(client.octets));
  await once(decoder, 'end');
  return text;
}

describe('an answer that is compressed', () => {
  it('counts as a head that is sent while it is still held back', () => {
    const { client, answer } = sceneOf();
    expect([answer.isHeadSent, client.isHeadSent]).toEqual([true, false]);
  });

  it('that comes whole has settled before its end, and has a length', () => {
    const { client, answer } = sceneOf();
    answer.write(Buffer.from(proseOf(3000)));
    answer.whenSettled(() => client.told.push(`settled with ${client.contentBytes}`));
    answer.end('');
    expect(client.told).toEqual(['head length', `settled with ${Buffer.concat(client.octets).length}`, 'end']);
  });

  it('that is long has settled before its end, when all of it was written', async () => {
    const { client, answer } = sceneOf();
    answer.write(Buffer.from(proseOf(200_000)));
    answer.whenSettled(() => client.told.push(`settled with ${client.contentBytes}`));
    answer.end('');
    expect(client.told).toEqual(['head chunked']);
    await until(() => client.told.includes('end'));
    expect(client.told).toEqual(['head chunked', `settled with ${Buffer.concat(client.octets).length}`, 'end']);
    expect(await textOf(client)).toBe(proseOf(200_000));
  });

  it('does not use memory of the service after it was given', async () => {
    const { client, answer } = sceneOf();
    const memory = Buffer.from(proseOf(40_000));
    answer.write(memory);
    memory.fill('x');
    answer.end('');
    await until(() => client.told.includes('end'));
    expect(await textOf(client)).toBe(proseOf(40_000));
  });

  it('asks the service for more only once the client reads, and never behind its end', async () => {
    const { client, answer } = sceneOf();
    client.isReading = false;
    for (let isReady = true; isReady; ) isReady = answer.write(noise(65_536));
    await until(() => client.octets.length > 0);
    expect(client.told).not.toContain('go on');
    client.isReading = true;
    client.events?.onDrain();
    await until(() => client.told.includes('go on'));
    client.isReading = false;
    for (let isReady = true; isReady; ) isReady = answer.write(noise(65_536));
    const asked = client.told.length;
    answer.end('');
    while (!client.told.includes('end')) {
      client.events?.onDrain();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(client.told.slice(asked)).toEqual(['end']);
  });

  it('that breaks off gives what there is first, unless the client does not read', async () => {
    const reading = sceneOf();
    reading.answer.write(Buffer.from(proseOf(2000)));
    reading.answer.breakOff();
    await until(() => reading.client.told.includes('break off'));
    expect(reading.client.contentBytes).toBeGreaterThan(100);
    const blocked = sceneOf();
    blocked.client.isReading = false;
    blocked.answer.write(noise(200_000));
    await until(() => blocked.client.octets.length > 0);
    blocked.answer.whenSettled(() => blocked.client.told.push('settled'));
    blocked.answer.breakOff();
    expect(blocked.client.told).toEqual(['head chunked', 'settled', 'break off']);
  });

  it('that takes too long at its end is broken off at once', async () => {
    const { client, answer } = sceneOf();
    client.isReading = false;
    answer.write(noise(200_000));
    answer.end('');
    await until(() => client.octets.length > 0);
    answer.breakOff();
    expect(client.told.at(-1)).toBe('break off');
    const written = client.octets.length;
    client.events?.onDrain();
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(client.octets).toHaveLength(written);
    expect(client.told.at(-1)).toBe('break off');
  });

  it('whose client leaves is not settled, and nothing more is written', async () => {
    const { client, answer } = sceneOf();
    answer.write(noise(200_000));
    answer.whenSettled(() => client.told.push('settled'));
    answer.end('');
    client.events?.onGone();
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(client.told).toEqual(['head chunked', 'gone']);
    expect(client.octets).toEqual([]);
  });
});
