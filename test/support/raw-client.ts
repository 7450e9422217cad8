// A raw-socket client: writes what the test says and collects what comes back.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitFor } from './wait-for.ts';

export class RawClient {
  readonly socket: Socket;
  /** All that was received so far, as Latin-1 text. */
  received = '';
  isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  send(octets: string): void {
    this.socket.write(octets, 'latin1');
  }

  /** Waits until `wanted` was received, or the connection was closed. */
  async until(wanted: string | ((received: string) => boolean), limitMs = 5000): Promise<string> {
    const isThere = typeof wanted === 'string' ? (text: string) => text.includes(wanted) : wanted;
    await waitFor(() => isThere(this.received) || this.isClosed, { limitMs, what: `the client to receive ${wanted}` });
    return this.received;
  }

  async untilClosed(limitMs = 5000): Promise<string> {
    await waitFor(() => this.isClosed, { limitMs, what: `the connection to be closed after ${this.received}` });
    return this.received;
  }

  /** Ends the connection without a word. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Sends one request on a fresh connection that the request itself ends, and returns all that came back. */
export async function exchange(port: number, request: string): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(request);
  const answer = await client.untilClosed(10_000);
  return answer;
}

/** A GET that ends its connection. */
export function get(path: string, fields = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${fields}\r\n`;
}
