// The metrics of TLS with clients: certificates, their files, and handshakes.
import type { Registry } from 'prom-client';
import type { GatewayState } from '../core/gateway-state.ts';
import { HANDSHAKE_FAILURES, TLS_VERSIONS, type TlsCell } from '../shared/tls-cell.ts';
import { counter, gauge } from './metric-kinds.ts';

export interface TlsMetricsSources {
  readonly state: () => GatewayState;
  readonly counts: TlsCell;
  readonly certificateReloads: () => readonly { readonly result: string; readonly count: number }[];
}

/** Registers them. */
export function tlsMetrics(registry: Registry, { state, counts, certificateReloads }: TlsMetricsSources): void {
  // Listeners may share a certificate: it is one all the same.
  const certificates = () => {
    const all = state().listeners.flatMap((listener) => listener.certificates ?? []);
    return [...new Map(all.map((each) => [each.certificate, each])).values()];
  };
  gauge(registry, {
    name: 'weir_tls_certificate_not_after_seconds',
    help: 'When a certificate that is served expires, in Unix time',
    labels: ['certificate'],
    read: () =>
      certificates().flatMap(({ certificate, notAfterMs }) => {
        return notAfterMs === null ? [] : [[notAfterMs / 1000, { certificate }]];
      }),
  });
  gauge(registry, {
    name: 'weir_tls_certificates_broken',
    help: 'Certificates whose files are not in force as they are',
    read: () => [[certificates().filter(({ problem }) => problem !== null).length]],
  });
  counter(registry, {
    name: 'weir_tls_certificate_reloads_total',
    help: 'Looks at the files of certificates by what came of them',
    labels: ['result'],
    read: () => certificateReloads().map(({ result, count }) => [count, { result }]),
  });
  counter(registry, {
    name: 'weir_tls_handshakes_total',
    help: 'Handshakes with clients by version, and whether a session was resumed',
    labels: ['version', 'resumed'],
    read: () =>
      TLS_VERSIONS.flatMap((version) =>
        [true, false].map((isResumed) => {
          return [counts.handshakes(version, isResumed), { version, resumed: String(isResumed) }] as const;
        }),
      ),
  });
  counter(registry, {
    name: 'weir_tls_handshake_failures_total',
    help: 'Handshakes with clients that came to nothing, by why',
    labels: ['reason'],
    read: () => HANDSHAKE_FAILURES.map((reason) => [counts.failures(reason), { reason }]),
  });
}
