// Endpoints for tests of pools: passing, weight 1, unless told otherwise.
import type { Endpoint } from '../../gateway/core/instance.ts';

export function endpoint(port: number, facts: Partial<Endpoint> = {}): Endpoint {
  return {
    key: `127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    weight: 1,
    status: 'passing',
    healthy: true,
    tags: [],
    meta: {},
    instances: [`i${port}`],
    ...facts,
  };
}
