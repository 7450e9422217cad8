// The questions about one service: what follows what, and when no more are asked.
import { expect, it } from 'vitest';
import { DnsLookup } from '../../../gateway/discovery/dns-lookup.ts';

/** A lookup at a resolver that knows one SRV record and no address, and what it is asked. */
function start(signal: AbortSignal, onSrv = (): void => undefined) {
  const asked: string[] = [];
  const none = async (question: string) => {
    asked.push(question);
    return [];
  };
  const resolver = {
    async resolveSrv(name: string) {
      asked.push(`SRV ${name}`);
      onSrv();
      return [{ name: 'a.test', port: 1, priority: 1, weight: 1 }];
    },
    resolve4: (name: string) => none(`A ${name}`),
    resolve6: (name: string) => none(`AAAA ${name}`),
  };
  return { asked, lookup: new DnsLookup({ resolver, name: 'web.test', type: 'srv', port: null, signal }) };
}

it('asks for the IPv4 addresses of a target, and for IPv6 ones where it has none', async () => {
  const { asked, lookup } = start(new AbortController().signal);
  await lookup.ask();
  expect(asked).toEqual(['SRV web.test', 'A a.test', 'AAAA a.test']);
});

it('asks nothing more once it is stopped', async () => {
  const stopped = new AbortController();
  const { asked, lookup } = start(stopped.signal, () => stopped.abort());
  await lookup.ask();
  expect(asked).toEqual(['SRV web.test']);
});
