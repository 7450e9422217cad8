// The presets of security headers: what an answer gets that its service did not say.
import { describe, expect, it } from 'vitest';
import { prepareSecurityHeaders, securityPreset } from '../../../../gateway/proxy/answers/security-headers.ts';

const basic = prepareSecurityHeaders('basic');
const strict = prepareSecurityHeaders('strict');

function names(lines: string): string[] {
  return lines
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.slice(0, line.indexOf(':')));
}

describe('an answer', () => {
  it.each(['basic', 'strict'] as const)('that says nothing gets all of %s', (preset) => {
    const wanted = securityPreset(preset).headers.map(({ name, value }) => `${name}: ${value}\r\n`);
    expect(prepareSecurityHeaders(preset).missingFrom('')).toBe(wanted.join(''));
    expect(prepareSecurityHeaders(preset).missingFrom('A: 1\r\nX-Frame-Option: a\r\n')).toBe(wanted.join(''));
  });

  it('keeps what its service says, in whatever case', () => {
    expect(basic.missingFrom('A: 1\r\nx-frame-OPTIONS: DENY\r\n')).toBe(
      'X-Content-Type-Options: nosniff\r\nReferrer-Policy: strict-origin-when-cross-origin\r\n',
    );
    expect(basic.missingFrom('Referrer-Policy: a\r\nX-Frame-Options: b\r\nX-Content-Type-Options: c\r\n')).toBe('');
    expect(names(strict.missingFrom("Content-Security-Policy: default-src 'self'\r\n"))).not.toContain(
      'Content-Security-Policy',
    );
  });

  it('gets the same again for the same fields', () => {
    for (let round = 0; round < 3; round++) {
      expect(names(basic.missingFrom('Referrer-Policy: a\r\n'))).toEqual(['X-Content-Type-Options', 'X-Frame-Options']);
      expect(names(basic.missingFrom('X-Frame-Options: a\r\n'))).toEqual(['X-Content-Type-Options', 'Referrer-Policy']);
    }
  });

  it('whose service allows frames by the old field is not forbidden them by the new one', () => {
    const missing = names(strict.missingFrom('X-Frame-Options: SAMEORIGIN\r\n'));
    expect(missing).not.toContain('Content-Security-Policy');
    expect(missing).not.toContain('X-Frame-Options');
  });

  it('does not take a value for a name', () => {
    expect(names(basic.missingFrom('A: X-Frame-Options: DENY\r\n'))).toContain('X-Frame-Options');
  });
});

describe('what a service is made of', () => {
  it('is taken out by strict only', () => {
    expect([...strict.dropResponseFields]).toEqual([
      'server',
      'x-powered-by',
      'x-aspnet-version',
      'x-aspnetmvc-version',
    ]);
    expect(basic.dropResponseFields.size).toBe(0);
  });
});
