// A request as the checks of who may come in see it, and the verdict of a check.
import type { Authenticator, RequestFacts, Verdict } from '../../gateway/access/gatekeeper.ts';

export interface Asked extends Partial<Omit<RequestFacts, 'header'>> {
  /** By lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function requestFacts({ headers = {}, ...rest }: Asked = {}): RequestFacts {
  return {
    method: 'GET',
    target: '/orders?page=2',
    host: 'shop.example.com',
    client: '192.0.2.1',
    isTls: false,
    requestId: 'request-1',
    header: (name) => headers[name],
    ...rest,
  };
}

/** The verdict, whether it comes at once or later. */
export function verdictOf(authenticator: Pick<Authenticator, 'check'>, asked: Asked = {}): Promise<Verdict> {
  return new Promise((resolve) => authenticator.check(requestFacts(asked), resolve));
}

/** The verdict of a check that must not take any time. */
export function verdictAtOnce(authenticator: Pick<Authenticator, 'check'>, asked: Asked = {}): Verdict {
  let verdict: Verdict | undefined;
  const pending = authenticator.check(requestFacts(asked), (decided) => {
    verdict = decided;
  });
  if (pending !== null || verdict === undefined) throw new Error('the check takes its time');
  return verdict;
}

export function basicField(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

/** Field lines as pairs of name and value. */
export function fieldsOf(lines: string): [string, string][] {
  return lines
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
}

/** Whether there is a control character of ASCII in the text. */
export function hasControls(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\u007f');
}
