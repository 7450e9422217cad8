// A gateway as operators run it in front of the world: two workers, one listener with TLS, an authority that tests trust.
import { type Authority, createAuthority } from './certificates.ts';
import { findFreePorts } from './free-ports.ts';
import { startWeir, type WeirProcess } from './weir-process.ts';

export interface TlsWeir {
  readonly weir: WeirProcess;
  /** Of the listener with TLS. */
  readonly port: number;
  /** In PEM, as its clients are to trust it. */
  readonly ca: string;
  readonly caFile: string;
  /** The listener as gateway.yaml has it. */
  readonly listen: readonly object[];
}

export interface TlsWeirOptions {
  /** Route files by name. They may go to services that the authority has signed a certificate for. */
  readonly routes: Readonly<Record<string, object>>;
  readonly gateway?: Readonly<Record<string, unknown>>;
  readonly authority?: Authority;
  /** More of the listener, as gateway.yaml has it. */
  readonly listener?: Readonly<Record<string, unknown>>;
}

/** Starts it; it ends with the stack that owns it. */
export async function startTlsWeir(owned: AsyncDisposableStack, options: TlsWeirOptions): Promise<TlsWeir> {
  const authority = options.authority ?? owned.adopt(createAuthority(), (each) => each.remove());
  const { certFile, keyFile } = authority.sign('front');
  const [port = 0] = await findFreePorts(1);
  const tls = { certificates: [{ cert: certFile, key: keyFile }] };
  const listen = [{ address: `127.0.0.1:${port}`, tls, ...options.listener }];
  const before = process.env.NODE_EXTRA_CA_CERTS;
  process.env.NODE_EXTRA_CA_CERTS = authority.caFile;
  try {
    const weir = await startWeir({ routes: options.routes, gateway: { ...options.gateway, listen } });
    owned.adopt(weir, (each) => each.close());
    return { weir, port, ca: authority.ca, caFile: authority.caFile, listen };
  } finally {
    if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
    else process.env.NODE_EXTRA_CA_CERTS = before;
  }
}
