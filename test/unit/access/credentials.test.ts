// Authorization fields: what is read from them, and what is nobody's.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { basicChallenge, bearerChallenge } from '../../../gateway/access/challenge.ts';
import { readBasic, readBearer } from '../../../gateway/access/credentials.ts';
import { basicField, hasControls } from '../../support/request-facts.ts';

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');

describe('user name and password', () => {
  it.each([
    ['Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'],
    ['basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'],
    ['BASIC   QWxhZGRpbjpvcGVuIHNlc2FtZQ', 'Aladdin', 'open sesame'],
    // RFC 7617 section 2.1.
    ['Basic dGVzdDoxMjPCow==', 'test', '123£'],
    [basicField('a', 'b:c:d'), 'a', 'b:c:d'],
    [basicField('a', ''), 'a', ''],
    [basicField('', 'b'), '', 'b'],
    [basicField('Zo\u0065\u0308', 'e\u0301'), 'Zo\u00eb', '\u00e9'],
    [basicField('a', '\ufeffb'), 'a', '\ufeffb'],
  ])('of %s', (field, name, password) => {
    expect(readBasic(field)).toEqual({ name, password });
  });

  it.each([
    ['', 'nothing'],
    ['Basic', 'no credentials'],
    ['Basic ', 'no credentials'],
    [`Basic ${base64('no colon')}`, 'no colon'],
    ['Basic YTpi!', 'an octet that is no base64'],
    ['Basic YTp iYw==', 'a space within'],
    ['Basic YTpiY', 'half an octet'],
    ['Basic YTpiYx==', 'bits that are left over'],
    ['Basic YTpi====', 'too much padding'],
    ['Basic YTpi-_', 'the other base64'],
    [`Basic ${base64(new Uint8Array([0x61, 0x3a, 0xff]))}`, 'no UTF-8'],
    [`Basic ${base64('a:b\nc')}`, 'a control character in the password'],
    [`Basic ${base64('a\0:b')}`, 'a control character in the name'],
    [`Basic ${base64(`a:${'b'.repeat(2000)}`)}`, 'too long a password'],
    [`Basic ${base64('a:b')}, Basic ${base64('c:d')}`, 'two fields'],
    [`Bearer ${base64('a:b')}`, 'another scheme'],
    [`Basic\t${base64('a:b')}`, 'a tab for a space'],
  ])('of %j are none: %s', (field) => {
    expect(readBasic(field)).toBeUndefined();
  });

  it('are what was encoded, whatever it is, or nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (name, password) => {
        const read = readBasic(basicField(name, password));
        const isPlain = !name.includes(':') && !hasControls(name + password);
        if (isPlain && read !== undefined) {
          expect(read).toEqual({ name: name.normalize('NFC'), password: password.normalize('NFC') });
        }
        if (isPlain) expect(read).toBeDefined();
      }),
    );
  });

  it('are read or refused without a throw, whatever stands there', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const read = readBasic(`Basic ${text}`);
        if (read !== undefined) expect(hasControls(read.name + read.password)).toBe(false);
      }),
    );
  });
});

describe('a bearer token', () => {
  it.each([
    ['Bearer a.b.c', 'a.b.c'],
    ['bearer  a-_.b.c', 'a-_.b.c'],
    ['Bearer a.b', undefined],
    ['Bearer a.b.', undefined],
    ['Bearer a.b.c.d.e', undefined],
    ['Bearer a.b.c, Bearer d.e.f', undefined],
    ['Bearer a.b.c=', undefined],
    ['Basic a.b.c', undefined],
    ['Bearera.b.c', undefined],
    ['Bearer ', undefined],
    [`Bearer a.b.${'c'.repeat(96)}`, `a.b.${'c'.repeat(96)}`],
    [`Bearer a.b.${'c'.repeat(97)}`, undefined],
  ])('of %s is %s', (field, token) => {
    expect(readBearer(field, 100)).toBe(token);
  });
});

describe('a challenge', () => {
  it('says the realm as a quoted string, and never why', () => {
    expect(basicChallenge('the "shop" \\ 1')).toBe(
      'WWW-Authenticate: Basic realm="the \\"shop\\" \\\\ 1", charset="UTF-8"\r\n',
    );
    expect(bearerChallenge('shop', false)).toBe('WWW-Authenticate: Bearer realm="shop"\r\n');
    expect(bearerChallenge('shop', true)).toBe('WWW-Authenticate: Bearer realm="shop", error="invalid_token"\r\n');
  });
});
