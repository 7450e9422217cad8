// What an exchange with another service threw, as a sentence for people.
import { quote } from './quote.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name does not resolve at present',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer was whole',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is too large',
};

/** The sentence for what was thrown, one of `own` first, by the code of the error; others' words in it are short and quoted. */
export function describeFailure(error: unknown, own: Readonly<Record<string, string>> = {}): string {
  if (!(error instanceof Error)) return quote(String(error));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return own[code] ?? SENTENCES[code] ?? quote(error.message === '' ? error.name : error.message, 120);
}
