// Tells clients that speak HTTP/2 with prior knowledge from those of HTTP/1 by what they send first (RFC 9113 section 3.3).
import { beginsAlike } from './begins-alike.ts';
import { Opening, type OpeningOptions } from './opening.ts';

export interface PrefaceWait extends Pick<OpeningOptions, 'socket' | 'sweep' | 'withinMs' | 'onEnded'> {
  /** It is clear; what was read is before the input of the socket again, which is paused. */
  readonly onTold: (isHttp2: boolean) => void;
  /** A client that has begun like HTTP/2 does not go on: what it is answered. */
  readonly answerLate: () => Buffer;
}

/** The preface of a client (RFC 9113 section 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export function awaitPreface({ onTold, answerLate, ...options }: PrefaceWait): Opening {
  return new Opening({
    ...options,
    onOctets: (opening, octets) => {
      const mayBeHttp2 = beginsAlike(octets, PREFACE);
      if (mayBeHttp2 && octets.length < PREFACE.length) return;
      opening.pass(0, () => onTold(mayBeHttp2));
    },
    onLate: (opening, octets) => opening.refuse(octets.length === 0 ? null : answerLate()),
    onLeft: () => undefined,
  });
}
