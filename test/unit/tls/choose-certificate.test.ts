// Which certificate a client is shown: exact name, wildcard of one label, default.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseCertificate, prepareChoice } from '../../../gateway/tls/choose-certificate.ts';

const certificate = (id: string, names: string[], keyType = 'ec') => ({ id, names, keyType });

const CHOICE = prepareChoice([
  certificate('first', ['first.example']),
  certificate('exact', ['www.a.example', '192.0.2.1']),
  certificate('wildcard', ['*.a.example', 'a.example']),
  certificate('later', ['a.example'], 'rsa'),
]);

describe('the choice of a certificate', () => {
  it.each([
    ['www.a.example', 'exact'],
    ['WWW.A.EXAMPLE.', 'exact'],
    ['b.a.example', 'wildcard'],
    ['c.b.a.example', null],
    ['.a.example', null],
    ['*.a.example', 'wildcard'],
    ['a.example', 'wildcard'],
    ['192.0.2.1', 'exact'],
    ['first.example', null],
    ['nobody.example', null],
    ['example', null],
    ['', null],
  ])('for %j is %s (null is the default)', (name, id) => {
    expect(chooseCertificate(CHOICE, name)?.id ?? null).toBe(id);
  });

  it('has by default the first, and with it the one of another key type for the same names', () => {
    const ids = (...certificates: ReturnType<typeof certificate>[]) =>
      prepareChoice(certificates).byDefault.map(({ id }) => id);
    const [ec, rsa] = [certificate('ec', ['a', 'b']), certificate('rsa', ['b', 'a'], 'rsa')];
    expect(ids(ec, certificate('other', ['c'], 'rsa'), rsa)).toEqual(['ec', 'rsa']);
    expect(ids(rsa, ec)).toEqual(['rsa', 'ec']);
    expect(ids(ec, certificate('same type', ['a', 'b']))).toEqual(['ec']);
    expect(ids(ec, certificate('fewer names', ['a'], 'rsa'))).toEqual(['ec']);
    expect(ids()).toEqual([]);
  });

  it('is never a certificate that is not for the name, unless it is the default', () => {
    const label = fc.constantFrom('a', 'b', 'c');
    const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
    const pattern = fc.oneof(
      name,
      name.map((below) => `*.${below}`),
    );
    const list = fc.array(
      fc.record({ names: fc.array(pattern, { maxLength: 3 }), keyType: fc.constantFrom('ec', 'rsa') }),
    );
    fc.assert(
      fc.property(list, name, (certificates, asked) => {
        const [, ...parent] = asked.split('.');
        const fitting = [asked, `*.${parent.join('.')}`];
        const found = chooseCertificate(prepareChoice(certificates), asked);
        expect(found === null || found.names.some((each) => fitting.includes(each))).toBe(true);
        // Who is nobody's gets the default.
        if (found === null) return;
        const exact = certificates.find(({ names }) => names.includes(asked));
        expect(found).toBe(exact ?? certificates.find(({ names }) => names.includes(fitting[1] ?? '')));
      }),
    );
  });
});
