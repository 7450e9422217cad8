// A TLS client that speaks HTTP/1.1 by hand: what a test has to know of its connection stands beside the answer.
import { once } from 'node:events';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { waitFor } from './wait-for.ts';

export interface TlsAnswer {
  /** All that came back, as Latin-1 text. */
  readonly text: string;
  /** The name and the fingerprint (SHA-256) of the certificate that was shown. */
  readonly subject: string;
  readonly fingerprint: string;
  readonly protocol: string | null;
  readonly isResumed: boolean;
  /** The newest session ticket; undefined when there was none. */
  readonly session: Buffer | undefined;
  /** What was stapled; undefined when nothing was. */
  readonly ocsp: Buffer | undefined;
}

export interface TlsRequest extends ConnectionOptions {
  readonly port: number;
  readonly send?: string;
}

const GET = 'GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n';

/** Opens a connection of its own; rejects when the handshake fails. */
export async function openTls({ port, ...options }: ConnectionOptions & { port: number }): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', rejectUnauthorized: false, port, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends one request that ends its connection; rejects when the connection fails before the end. */
export async function askTls({ send = GET, ...options }: TlsRequest): Promise<TlsAnswer> {
  const socket = connect({ host: '127.0.0.1', rejectUnauthorized: false, ...options });
  const seen: { session?: Buffer; ocsp?: Buffer } = {};
  let text = '';
  socket.on('session', (session) => {
    seen.session = session;
  });
  socket.on('OCSPResponse', (response: Buffer | null) => {
    if (response !== null && response.length > 0) seen.ocsp = response;
  });
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  const broken = once(socket, 'error').then(([error]) => error);
  const step = (event: string) => Promise.race([once(socket, event), broken.then((error) => Promise.reject(error))]);
  try {
    await step('secureConnect');
    const { subject, fingerprint256 = '' } = socket.getPeerCertificate();
    const about = { protocol: socket.getProtocol(), isResumed: socket.isSessionReused() };
    const ended = step('end');
    socket.write(send, 'latin1');
    await ended;
    const answer = { text, subject: String(subject?.CN ?? ''), fingerprint: fingerprint256, ...about };
    return { ...answer, session: seen.session, ocsp: seen.ocsp };
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

/** The code with which a connection fails, at the latest when it has been written to. */
export async function failureOf(request: TlsRequest): Promise<string> {
  try {
    const { text } = await askTls(request);
    return `answered ${text.slice(0, 30)}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** Collects what a socket receives, and waits for parts of it. */
export function collect(socket: TLSSocket): { until(wanted: string): Promise<string> } {
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  return {
    until: async (wanted) => {
      await waitFor(() => received.includes(wanted), { limitMs: 5000, what: `the client to receive ${wanted}` });
      return received;
    },
  };
}
