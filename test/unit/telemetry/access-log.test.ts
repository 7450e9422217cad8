import pino from 'pino';
import { describe, expect, it } from 'vitest';
import type { AccessRecord } from '../../../gateway/core/access-record.ts';
import { accessLog, combinedLine } from '../../../gateway/telemetry/access-log.ts';

const RECORD: AccessRecord = {
  requestId: 'r-1',
  client: '192.0.2.7',
  user: null,
  method: 'GET',
  version: '1.1',
  scheme: 'https',
  host: 'shop.example.com',
  path: '/orders/1',
  status: 200,
  bytes: 512,
  durationMs: 1.5,
  route: 'orders',
  service: 'order-service',
  branch: null,
  attempts: [],
  degraded: null,
  error: null,
  userAgent: 'curl/8.5',
};
const NOON = new Date(Date.UTC(2026, 10, 9, 12, 3, 4));

/** The format as a log reader takes it apart. */
const LINE = /^(\S+) - - \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+) "-" "((?:[^"\\]|\\.)*)"\n$/;

/** The line of a record in JSON, as it is written. */
function jsonLine(record: AccessRecord): string {
  let written = '';
  const output = {
    write: (line: string): void => {
      written += line;
    },
  };
  accessLog({ format: 'json', logger: pino({ base: null }, output), output })(record);
  return written;
}

describe('a line of JSON', () => {
  it('says by which scheme a request came, and who sent it', () => {
    expect(JSON.parse(jsonLine({ ...RECORD, scheme: 'https', user: 'anna' }))).toMatchObject({
      scheme: 'https',
      user: 'anna',
    });
    expect(JSON.parse(jsonLine({ ...RECORD, scheme: 'http', user: null }))).toMatchObject({
      scheme: 'http',
      user: null,
    });
  });

  it('keeps a user with control characters and quotes inside its field, and cuts a long one', () => {
    const user = 'a\r\n{"user":"root"}\u001b[31m\u0000';
    const line = jsonLine({ ...RECORD, user });
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(line).not.toContain('\u001b');
    expect(JSON.parse(line)).toMatchObject({ user });
    expect(jsonLine({ ...RECORD, user: 'x'.repeat(100_000) }).length).toBeLessThan(2000);
  });
});

describe('a line of the combined format', () => {
  it('has address, time, request, status, bytes and user agent', () => {
    expect(combinedLine(RECORD, NOON)).toBe(
      '192.0.2.7 - - [09/Nov/2026:12:03:04 +0000] "GET /orders/1 HTTP/1.1" 200 512 "-" "curl/8.5"\n',
    );
  });

  it.each([
    ['a quote that would end the field', 'a" 200 0 "x', 'a\\x22 200 0 \\x22x'],
    ['a backslash', 'a\\', 'a\\x5C'],
    ['a line end', 'a\r\nFAKE 200', 'a\\x0D\\x0AFAKE 200'],
    ['an escape sequence of terminals', '\u001b[31m', '\\x1B[31m'],
    ['letters beyond ASCII', 'é', '\\xC3\\xA9'],
  ])('keeps %s inside its field (case 139)', (_what, userAgent, written) => {
    const line = combinedLine({ ...RECORD, userAgent, path: `/${userAgent}` }, NOON);
    const [, , , request, , , agent] = LINE.exec(line) ?? [];
    expect([request, agent]).toEqual([`GET /${written} HTTP/1.1`, written]);
  });

  it.each([
    ['anna', 'anna'],
    ['anna smith" 200', 'anna\\x20smith\\x22\\x20200'],
    ['Zoë\n', 'Zo\\xC3\\xAB\\x0A'],
  ])('names the user %j in the field that is for it', (user, written) => {
    expect(combinedLine({ ...RECORD, user }, NOON)).toMatch(`192.0.2.7 - ${written} [09/Nov/2026`);
  });

  it('is bounded, whatever a client sends', () => {
    const line = combinedLine({ ...RECORD, userAgent: 'x'.repeat(100_000), path: `/${'y'.repeat(100_000)}` }, NOON);
    expect(line.length).toBeLessThan(3000);
    expect(line).toMatch(LINE);
  });

  it('says what is not known as web servers do', () => {
    const refused = { ...RECORD, method: '', path: '', version: '', status: 0, userAgent: null };
    expect(combinedLine(refused, NOON)).toContain('"-" 499 512 "-" "-"');
  });
});
