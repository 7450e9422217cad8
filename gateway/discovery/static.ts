// The source of fixed endpoints: what the configuration lists, said once.
import type { Instance } from '../core/instance.ts';
import type { DiscoverySource } from './source.ts';

/** A source that answers every watch once, right after `watch` returned, with what is listed then. */
export function createStaticSource(instancesOf: (service: string) => readonly Instance[]): DiscoverySource {
  return {
    name: 'static',
    accept: ['passing'],
    watch({ service, onEvent }) {
      let isStopped = false;
      const instances = instancesOf(service);
      queueMicrotask(() => {
        if (!isStopped) onEvent({ kind: 'answer', instances, skipped: [], notes: [], index: null, doubt: null });
      });
      return {
        stop() {
          isStopped = true;
        },
      };
    },
    stop: async () => {},
  };
}
