// Variables inside configured text.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax that is tested.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { substitute } from '../../../gateway/config/environment.ts';
import { checkGateway, checkRoute, problemLines, valid } from './checking.ts';

const ENVIRONMENT = { HOST: 'shop', EMPTY: '', NESTED: '${HOST}' };

describe('substitute', () => {
  it.each([
    ['no variable', 'no variable'],
    ['${HOST}', 'shop'],
    ['a ${HOST} b ${HOST}', 'a shop b shop'],
    ['${HOST:-other}', 'shop'],
    ['${UNSET:-other}', 'other'],
    ['${EMPTY:-other}', 'other'],
    ['${UNSET:-}', ''],
    ['${UNSET:-http://a:1}', 'http://a:1'],
    ['[${EMPTY}]', '[]'],
    ['${NESTED}', '${HOST}'],
    ['$${HOST}', '${HOST}'],
    ['$HOST $ {HOST}', '$HOST $ {HOST}'],
  ])('replaces %s by %s', (text, replaced) => {
    expect(substitute(text, ENVIRONMENT)).toEqual({ ok: true, text: replaced });
  });

  it.each(['${UNSET}', 'a ${HOST} ${UNSET}', '${toString}', '${__proto__}'])(
    'refuses the unset variable in %s',
    (text) => {
      expect(substitute(text, ENVIRONMENT)).toMatchObject({
        ok: false,
        message: expect.stringContaining('is not set'),
      });
    },
  );

  it.each(['${', '${HOST', '${}', '${1A}', '${HOST-x}', '${ HOST }'])('refuses the malformed %s', (text) => {
    expect(substitute(text, ENVIRONMENT)).toMatchObject({ ok: false, message: 'malformed variable' });
  });

  it('leaves any text without "${" as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes('${'));
        expect(substitute(text, {})).toEqual({ ok: true, text });
      }),
    );
  });
});

describe('variables in a file', () => {
  it('are replaced in values, not in keys', () => {
    const route = valid(checkRoute('service: ${NAME}\nmatch: [{ paths: ["/${NAME}"] }]', { NAME: 'orders' }));
    expect([route.service, route.match[0]?.paths]).toEqual(['orders', ['/orders']]);
    expect(problemLines(checkRoute('service: a\n${NAME}: 1', { NAME: 'body' }))).toEqual([
      'r.yaml:2:1 ["${NAME}"]: unknown key',
    ]);
  });

  it('are named when they are not set, at the place of the value and only once', () => {
    expect(problemLines(checkRoute('service: a\ntimeout:\n  connect: ${CONNECT}'))).toEqual([
      'r.yaml:3:12 timeout.connect: the environment variable CONNECT is not set, ' +
        'expected it to be set, or a default as in ${CONNECT:-default}',
    ]);
  });

  it('become a number or true/false where the schema wants one', () => {
    const text = 'workers: ${WORKERS}\nlog: { access: "${ACCESS}" }\nlimits: { headerCount: "${COUNT:-50}" }';
    const gateway = valid(checkGateway(text, { WORKERS: '4', ACCESS: 'false' }));
    expect([gateway.workers, gateway.log.access, gateway.limits.headerCount]).toEqual([4, false, 50]);
    expect(valid(checkGateway(text, { WORKERS: 'auto', ACCESS: 'true' })).workers).toBe('auto');
  });

  it('stay text where the schema wants text', () => {
    expect(valid(checkGateway('admin: { token: "${T}" }', { T: '12345' })).admin.token).toBe('12345');
  });

  it('do not make a quoted number a number', () => {
    expect(problemLines(checkGateway('workers: "4"', {}))).toHaveLength(1);
  });

  it('never show what they hold in a problem', () => {
    const secret = 'hunter2 with spaces';
    const keys = [
      'admin: { token: "${S}" }',
      'workers: ${S}',
      'log: { level: "${S}", access: "${S}" }',
      'routes: [ "${S}" ]',
    ];
    const text = `${keys.join('\n')}\ntimeouts: { write: "\${S}" }\ndiscovery: { consul: { agents: ["\${S}"], token: "\${S}" } }`;
    const lines = problemLines(checkGateway(text, { S: secret }));
    expect(lines).toHaveLength(8);
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});
