// The row of the dashboard about TLS with clients.
import { curves, GATEWAY, rate } from './figures.ts';
import type { Row } from './grafana-panels.ts';

export const tlsRow: Row = {
  title: 'TLS',
  panels: [
    curves({
      title: 'Time until certificates expire',
      meaning: 'Of every certificate that is served. The alert is at 14 days.',
      unit: 's',
      queries: [
        {
          expr: `min by (certificate) (weir_tls_certificate_not_after_seconds{${GATEWAY}}) - time()`,
          legend: '{{certificate}}',
        },
      ],
      steps: [
        [null, 'red'],
        [14 * 86_400, 'green'],
      ],
    }),
    curves({
      title: 'Handshakes',
      meaning: 'Handshakes a second, by version. A resumed one costs less.',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (version, resumed) (${rate('weir_tls_handshakes_total', GATEWAY)})`,
          legend: '{{version}} resumed: {{resumed}}',
        },
      ],
      isStacked: true,
    }),
    curves({
      title: 'Failed handshakes',
      meaning: 'closed and plain_http are scanners and health checks more often than not; client_alert is distrust.',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (reason) (${rate('weir_tls_handshake_failures_total', GATEWAY)}) > 0`,
          legend: '{{reason}}',
        },
        {
          expr: `sum by (reason) (${rate('weir_proxy_header_failures_total', GATEWAY)}) > 0`,
          legend: 'PROXY header: {{reason}}',
        },
      ],
    }),
    curves({
      title: 'Certificate files',
      meaning: 'Certificates whose files are not in force as they are, and looks at the files in 10 minutes.',
      unit: 'short',
      queries: [
        { expr: `weir_tls_certificates_broken{${GATEWAY}}`, legend: '{{instance}} broken' },
        {
          expr: `sum by (instance, result) (increase(weir_tls_certificate_reloads_total{${GATEWAY}}[10m])) > 0`,
          legend: '{{instance}} {{result}}',
        },
      ],
    }),
  ],
};
