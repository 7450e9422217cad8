// Waits for the header of the PROXY protocol at the beginning of a connection, and closes it without a word if none comes.
import type { ProxyHeaderFailure } from '../../shared/gateway-cell.ts';
import { Opening, type OpeningOptions } from './opening.ts';
import { readProxyHeader } from './proxy-header.ts';

export interface ProxyHeaderWait extends Pick<OpeningOptions, 'socket' | 'sweep' | 'withinMs' | 'onEnded'> {
  /** There is one, with the address of the client, or null where the peer's own counts; the socket is paused behind it. */
  readonly onHeader: (source: string | null) => void;
  readonly onFailed: (reason: ProxyHeaderFailure) => void;
}

export function awaitProxyHeader({ onHeader, onFailed, ...options }: ProxyHeaderWait): Opening {
  const fail = (opening: Opening, reason: ProxyHeaderFailure): void => {
    onFailed(reason);
    opening.refuse(null);
  };
  return new Opening({
    ...options,
    onOctets: (opening, octets) => {
      const header = readProxyHeader(octets);
      if (header === 'unfinished') return;
      if (header === 'malformed') fail(opening, 'malformed');
      else opening.pass(header.lengthBytes, () => onHeader(header.source));
    },
    onLate: (opening) => fail(opening, 'timeout'),
    onLeft: () => onFailed('closed'),
  });
}
