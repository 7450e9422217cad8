// What a request asks for beside an answer: to be told to go on, to become a WebSocket.
import { equalsIgnoringCase, FIELD } from './field-id.ts';
import type { RequestHead } from './request-head.ts';

/** Whether the client waits for a 100 before it sends its content (RFC 9110 section 10.1.1). */
export function expectsContinue(head: RequestHead): boolean {
  return head.minor === 1 && isWord(head, FIELD.expect, '100-continue');
}

/** Whether the request, whose Connection field says upgrade, wants to become a WebSocket (RFC 6455 section 4.1). */
export function wantsWebSocket(head: RequestHead): boolean {
  return head.method === 'GET' && head.minor === 1 && isWord(head, FIELD.upgrade, 'websocket');
}

function isWord({ fields }: RequestHead, id: number, word: string): boolean {
  const field = fields.find(id);
  if (field === -1) return false;
  const value = fields.value(field);
  return value.length === word.length && equalsIgnoringCase(value, 0, word);
}
