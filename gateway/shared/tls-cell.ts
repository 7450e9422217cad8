// What all workers count of the handshakes of TLS with clients.
import { allocateCell, Cell, type CellLayout, type CellPlace } from './cell.ts';

export const TLS_VERSIONS = ['1.2', '1.3'] as const;
export type TlsVersion = (typeof TLS_VERSIONS)[number];

/**
 * Why a handshake came to nothing: plain HTTP was sent; it took too long; no common version, cipher or application
 * protocol; no certificate of the client's that is trusted; the client refused, as it does for a certificate that it does
 * not trust; it left; anything else that breaks the protocol.
 */
export const HANDSHAKE_FAILURES = [
  'plain_http',
  'timeout',
  'version',
  'cipher',
  'alpn',
  'client_certificate',
  'client_alert',
  'closed',
  'protocol',
] as const;
export type HandshakeFailure = (typeof HANDSHAKE_FAILURES)[number];

const FIRST_FAILURE = 2 * TLS_VERSIONS.length;
const LAYOUT: CellLayout = { headWords: 0, laneNumbers: FIRST_FAILURE + HANDSHAKE_FAILURES.length };

export function allocateTlsCell(lanes: number): CellPlace {
  return allocateCell(LAYOUT, lanes);
}

/** One thread's view of these counts. */
export class TlsCell {
  readonly #cell: Cell;

  constructor(place: CellPlace, lane: number) {
    this.#cell = new Cell(place, LAYOUT, lane);
  }

  countHandshake(version: TlsVersion, isResumed: boolean): void {
    this.#cell.add(fieldOf(version, isResumed), 1);
  }

  countFailure(reason: HandshakeFailure): void {
    this.#cell.add(FIRST_FAILURE + HANDSHAKE_FAILURES.indexOf(reason), 1);
  }

  /** Handshakes of all workers. */
  handshakes(version: TlsVersion, isResumed: boolean): number {
    return this.#cell.sum(fieldOf(version, isResumed));
  }

  /** Handshakes that failed, of all workers. */
  failures(reason: HandshakeFailure): number {
    return this.#cell.sum(FIRST_FAILURE + HANDSHAKE_FAILURES.indexOf(reason));
  }
}

function fieldOf(version: TlsVersion, isResumed: boolean): number {
  return 2 * TLS_VERSIONS.indexOf(version) + (isResumed ? 1 : 0);
}
