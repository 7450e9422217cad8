// Whether the wrapped command answers: its port accepts a connection, or its path answers 2xx.
import { connect } from 'node:net';
import { type Address, formatAddress } from '../core/address.ts';
import { exchange, reasonOf } from './register-exchange.ts';

/** Null when it answers, else why it does not, in words. */
export type ProbeResult = string | null;

export interface ProbeOptions {
  readonly limitMs: number;
  /** Ends the probe early. */
  readonly signal: AbortSignal;
}

/** Whether the address accepts a TCP connection. Never rejects. */
export function probePort({ host, port }: Address, { limitMs, signal }: ProbeOptions): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const end = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    const socket = connect({ host, port });
    const settle = (result: ProbeResult): void => {
      end.removeEventListener('abort', onEnd);
      socket.destroy();
      resolve(result);
    };
    const onEnd = (): void => settle(`no connection within ${limitMs} ms`);
    end.addEventListener('abort', onEnd);
    socket.once('connect', () => {
      // Where nobody listens, a local port may be given to the very connection that asks for it.
      const isItself = socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress;
      settle(isItself ? 'nobody listens' : null);
    });
    socket.on('error', (error) => settle(reasonOf(error)));
  });
}

/** Whether `GET path` is answered with 2xx. Never rejects. */
export async function probePath(address: Address, path: string, options: ProbeOptions): Promise<ProbeResult> {
  const url = new URL(`http://${formatAddress(address.host, address.port)}${path}`);
  try {
    const { status } = await exchange({ method: 'GET', url, ...options });
    return status >= 200 && status < 300 ? null : `GET ${path} answered ${status}`;
  } catch (error) {
    return reasonOf(error);
  }
}
