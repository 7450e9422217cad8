// Octets sent as they are, and all that comes back until the other side closes.
import { connect } from 'node:net';

const LIMIT_MS = 10_000;

/** The octets must ask for the end of the connection. Rejects when the other side does not close in time. */
export function sendRaw(port: number, octets: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(octets, 'latin1'));
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error(`the connection was silent for ${LIMIT_MS} ms`)));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}
