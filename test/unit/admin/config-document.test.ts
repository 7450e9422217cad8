import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configDocument } from '../../../gateway/admin/config-document.ts';
import { routesOf } from '../../../gateway/config/reload.ts';
import { checkGateway, valid } from '../config/checking.ts';
import { inForceFrom } from '../config/loading.ts';

const SECRET = 'kept-4711';

/** The document as the admin address writes it. */
function documentOf(gateway: string, routes: Record<string, string> = {}): string {
  return JSON.stringify(configDocument(valid(checkGateway(gateway)), routesOf(inForceFrom({ routes })), []));
}

describe('the document of the configuration', () => {
  it.each([
    ['the admin token', `admin: { token: ${SECRET} }`],
    ['the token for Consul', `discovery: { consul: { token: ${SECRET} } }`],
    ['the password for etcd', `discovery: { etcd: { username: u, password: ${SECRET} } }`],
    ['the secret of the registry', `discovery: { embeddedRegistry: { secret: ${SECRET} } }`],
    ['the password of its database', `discovery: { embeddedRegistry: { store: "mysql://u:${SECRET}@h/d" } }`],
  ])('does not show %s', (_what, gateway) => {
    const shown = documentOf(gateway);
    expect(shown).not.toContain(SECRET);
    expect(shown).toContain('***');
  });

  it.each(['Authorization', 'Proxy-Authorization', 'Cookie', 'X-Api-Key', 'X-Auth-Token', 'apikey'])(
    'does not show what a route sets or asks for in %s',
    (name) => {
      const set = `rewrite: { requestHeaders: { set: { ${name}: "${SECRET}" } } }`;
      const asked = `match: [{ headers: { ${name}: "${SECRET}" } }]`;
      for (const text of [set, asked]) {
        const shown = documentOf('', { 'a.yaml': `service: a\n${text}` });
        expect(shown).not.toContain(SECRET);
        expect(shown).toContain('"***"');
      }
    },
  );

  it('shows all that is no secret, as it is written', () => {
    const route = `service: a
endpoints: [127.0.0.1:9]
match: [{ headers: { x-beta: "1" } }]
timeout: { total: off }
balance: { policy: consistent_hash, hash: { on: cookie, name: user } }
fallback: { chain: [{ respond: { body: sorry } }] }`;
    const { gateway, routes } = JSON.parse(documentOf('limits: { body: off }', { 'a.yaml': route }));
    expect(gateway).toMatchObject({ limits: { bodyBytes: 'off' }, admin: { token: '', port: 9901 } });
    expect(routes).toMatchObject([
      {
        name: 'a',
        match: [{ headers: { 'x-beta': '***' } }],
        timeout: { totalMs: 'off' },
        balance: { hash: { on: 'cookie', name: 'user' } },
        fallback: { chain: [{ content: '5 bytes' }] },
      },
    ]);
  });

  it('never shows the user, the password and the query of a URL, wherever it stands and whatever they are', () => {
    const part = fc.stringMatching(/^[a-z0-9:@!$&'()*+,;=._~%-]{1,12}$/);
    fc.assert(
      fc.property(part, part, fc.constantFrom('https', 'mysql', 'a+b'), (user, password, scheme) => {
        const url = `${scheme}://«${user}:${password}»@db.example:9/path?key=«x»`;
        const [route] = routesOf(inForceFrom({ routes: { 'a.yaml': 'service: a' } }));
        if (route === undefined) throw new Error('no route');
        const shown = JSON.stringify(configDocument(valid(checkGateway('')), [{ ...route, file: url }], []));
        expect(shown).not.toMatch(/[«»]/);
        expect(shown).toContain(`"${scheme}://***@db.example:9/path?***"`);
      }),
    );
  });
});
