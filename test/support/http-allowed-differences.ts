// Where the codec may accept what Node's parser refuses, each with its reason.
import { METHODS } from 'node:http';
import type { NodeReading } from './http-node-reading.ts';
import type { ReadMessage } from './http-reading.ts';

/** A message that the codec accepts and what Node's parser says against the stream. */
interface Case {
  readonly message: ReadMessage;
  /** The octets of the message. */
  readonly text: string;
  readonly error: string | null;
}

interface Allowed {
  readonly reason: string;
  readonly holds: (each: Case) => boolean;
}

const ALLOWED: readonly Allowed[] = [
  {
    // RFC 9110 section 9.1: any token is a method, and a gateway passes on those it does not know. Node has a list.
    reason: 'a method that is not on the list of Node',
    holds: ({ message, error }) => error === 'HPE_INVALID_METHOD' && !METHODS.includes(word(message, 0)),
  },
  {
    // SPEC section 3.3: the octets of the target go through as they came. RFC 9112 section 3 asks for a refusal of what
    // is no URI (SHOULD), but none of these octets can end a target, so that all parsers see the same message.
    reason: 'raw obs-text in a target',
    holds: ({ message, error }) => error === 'HPE_INVALID_URL' && /[\x80-\xff]/.test(word(message, 1)),
  },
  {
    // RFC 9112 section 3.2: the forms of a target are told apart when the request is routed (proxy/front/request-line.ts).
    reason: 'a target that does not begin with a slash, which the proxy judges',
    holds: ({ message, error }) => error === 'HPE_INVALID_URL' && !word(message, 1).startsWith('/'),
  },
  {
    // RFC 9110 section 5.6.3: OWS is spaces and tabs, in front of a value and behind it. Node takes a tab behind this
    // one for a part of it: it refuses such a request, and reads such a response to the end of the connection.
    reason: 'a tab behind the transfer coding',
    holds: ({ message, text }) => message.framing === 'chunked' && /chunked[\t ]*\t[\t ]*\r\n/i.test(text),
  },
  {
    // RFC 9112 section 7.1.1: a recipient MUST parse the blanks (BWS) around `;` and `=` of an extension. They go no
    // further: extensions are left out.
    reason: 'blanks in a chunk extension',
    holds: ({ message, text, error }) =>
      // Node swallows the error of a request that asks for an upgrade, and waits for ever.
      (error === 'HPE_STRICT' || (error === null && hasField(message, 'upgrade'))) &&
      chunkExtensions(text).some((each) => /[\t ]/.test(each)),
  },
  {
    // RFC 9110 section 15.2: a client must be able to read interim responses before the final one. Node ends with the
    // first that says `close`, though the final one is still to come.
    reason: 'an interim response that says close',
    holds: ({ message, error }) => error === 'HPE_CLOSED_CONNECTION' && /^1\.[01] 1\d\d /.test(message.line),
  },
  {
    // RFC 9110 section 6.5.1: a trailer field is none of the head, and those that delimit a message mean nothing in a
    // trailer. Node's parser reads them as if they stood in the head; the proxy leaves them out (case 40).
    reason: 'a field about framing or the connection in the trailers',
    holds: ({ message }) => message.trailers.some((each, at) => at % 2 === 0 && HEAD_FIELDS.has(each.toLowerCase())),
  },
];

const HEAD_FIELDS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'connection', 'upgrade']);

/** The reason why the two may differ about `message`, whose octets are `text`; null when they may not. */
export function allowedDifference(message: ReadMessage, text: string, { error }: NodeReading): string | null {
  return ALLOWED.find(({ holds }) => holds({ message, text, error }))?.reason ?? null;
}

function hasField({ fields }: ReadMessage, name: string): boolean {
  return fields.some((each, at) => at % 2 === 0 && each.toLowerCase() === name);
}

function word({ line }: ReadMessage, at: number): string {
  return line.split(' ')[at] ?? '';
}

/** What follows the sizes in lines that look like those of chunks, without what is quoted there. */
function chunkExtensions(text: string): string[] {
  const lines = text.matchAll(/^[0-9a-f]+;([^\r\n]*)(?:\r|$)/gim);
  return [...lines].map(([, extensions = '']) => extensions.replace(/"(?:\\.|[^"\\])*"/g, '""'));
}
