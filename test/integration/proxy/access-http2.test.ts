// Who may come in over HTTP/2: refusals that end a stream and not the session, and checks that take their time.
import { describe, expect, it } from 'vitest';
import { KEEP_OUT, LET_IN, startJudge } from '../../support/access-scene.ts';
import { answerOf, ask, endHttp2AfterEach, http2GatewayFor, sessionTo } from '../../support/http2-scene.ts';
import { namedUpstream, requestsOf } from '../../support/named-upstream.ts';
import { endAfterEach, nodeUpstream } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();

const limitMs = 5000;
const POST = { ':method': 'POST', ':path': '/' };

async function scene(route: Readonly<Record<string, unknown>>) {
  const upstream = await namedUpstream('served');
  const gateway = await http2GatewayFor({ endpoints: [upstream.port], route });
  return { upstream, gateway, session: sessionTo(gateway.port) };
}

describe('a stream', () => {
  it('of a client that may not come in is refused, and others of the session go on', async () => {
    const judge = await startJudge();
    const { session, upstream } = await scene({ auth: judge.auth });
    const [refused, served] = [ask(session, { ':path': '/a' }), ask(session, { ':path': '/b' })];
    await judge.asked(2);
    const isFirst = /x-forwarded-uri: \/a\r/i.test(judge.heads[0] ?? '');
    judge.answer(isFirst ? 1 : 0, LET_IN);
    expect(await served).toMatchObject({ status: 200, content: 'served' });
    judge.answer(isFirst ? 0 : 1, KEEP_OUT);
    expect(await refused).toMatchObject({ status: 401, content: 'no', headers: { 'www-authenticate': 'Token' } });
    expect(requestsOf(upstream)).toBe(1);
  });

  it('tells the service who it is, and not what the client claims', async () => {
    const judge = await startJudge({ octets: LET_IN });
    const { session, upstream } = await scene({ auth: judge.auth });
    await ask(session, { ':path': '/', 'x-user': 'root', x_user: 'root' });
    expect(upstream.received().match(/^x.user: .*$/gim)).toEqual(['x-user: anna']);
  });

  it('with an address that is refused gets a problem, and a status of gRPC where it speaks that', async () => {
    const { session } = await scene({ deny: ['0.0.0.0/0'] });
    expect(await ask(session, { ':path': '/' })).toMatchObject({ status: 403, resetCode: 0 });
    const grpc = await ask(session, { ...POST, 'content-type': 'application/grpc' }, 'x');
    expect([grpc.status, grpc.headers['grpc-status']]).toEqual([200, '7']);
  });

  it('whose content is under way is refused without waiting for the rest of it', async () => {
    const judge = await startJudge({ octets: KEEP_OUT });
    const { session, upstream } = await scene({ auth: judge.auth });
    const stream = session.request(POST, { endStream: false });
    const answer = answerOf(stream);
    stream.write('hello');
    expect(await answer).toMatchObject({ status: 401, content: 'no', resetCode: 0 });
    expect(requestsOf(upstream)).toBe(0);
    expect((await ask(session, { ':path': '/' })).status).toBe(401);
  });

  it('keeps the content that arrives during its check for the service', async () => {
    const judge = await startJudge();
    const upstream = await nodeUpstream();
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], route: { auth: judge.auth } });
    const stream = sessionTo(gateway.port).request(POST, { endStream: false });
    const answer = answerOf(stream);
    stream.write('one');
    await judge.asked(1);
    stream.write(' two');
    judge.answer(0, LET_IN);
    stream.end(' three');
    expect(await answer).toMatchObject({ status: 200 });
    expect(upstream.requests).toMatchObject([{ content: 'one two three' }]);
  });

  it('that its client gives up during the check is gone, and goes no further', async () => {
    const judge = await startJudge();
    const { session, upstream, gateway } = await scene({ auth: judge.auth });
    const stream = session.request({ ':path': '/gone' });
    stream.on('error', () => undefined);
    await judge.asked(1);
    stream.close(8);
    await judge.calledOff(0);
    await waitFor(() => gateway.records.length === 1, { limitMs, what: 'the record' });
    expect(gateway.records).toMatchObject([{ path: '/gone', status: 0, error: 'client_gone', attempts: [] }]);
    expect(requestsOf(upstream)).toBe(0);
  });
});
