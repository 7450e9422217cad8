import { describe, expect, it } from 'vitest';
import { ERROR_ANSWERS, type ErrorSituation } from '../../../gateway/core/errors.ts';
import { errorAnswer, rawErrorAnswer } from '../../../gateway/proxy/answers.ts';

const situations = Object.keys(ERROR_ANSWERS).filter((name): name is ErrorSituation => name in ERROR_ANSWERS);

function field(lines: string, name: string): string | undefined {
  return lines
    .split('\r\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2);
}

describe('an answer of the gateway itself', () => {
  it.each(situations)('for %s is whole, marked and not cached', (situation) => {
    const { head, content } = errorAnswer(situation, 'id-1');
    expect(JSON.parse(content.toString())).toMatchObject({ status: head.status, requestId: 'id-1' });
    expect(field(head.lines, 'Content-Type')).toBe('application/problem+json');
    expect(field(head.lines, 'Content-Length')).toBe(String(content.length));
    expect(field(head.lines, 'Cache-Control')).toBe('no-store');
    expect(field(head.lines, 'X-Request-Id')).toBe('id-1');
    expect(field(head.lines, 'Proxy-Status')).toMatch(/^weir; error=[a-z_]+$/);
  });

  it('asks to come back when the pool is empty', () => {
    expect(field(errorAnswer('empty_pool', 'i').head.lines, 'Retry-After')).toBe('5');
  });

  it.each([
    [undefined, 'application/problem+json'],
    ['', 'application/problem+json'],
    ['*/*', 'application/problem+json'],
    ['application/json', 'application/problem+json'],
    ['image/png', 'application/problem+json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['application/json, text/html;q=0.5', 'application/problem+json'],
    ['text/html;q=0, */*', 'application/problem+json'],
  ])('to a client that accepts "%s" is %s', (accept, type) => {
    expect(field(errorAnswer('no_route', 'i', { accept }).head.lines, 'Content-Type')).toBe(type);
  });

  it('as raw octets ends the connection and has its exact length', () => {
    const [head = '', content = ''] = rawErrorAnswer('bad_request', 'i').toString('latin1').split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(head).toMatch(/\r\nConnection: close$/);
    expect(head).toContain(`Content-Length: ${content.length}`);
  });
});
