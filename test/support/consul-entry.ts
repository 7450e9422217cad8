// Records of Consul's `/v1/health/service/<name>` as a test needs them.

export interface EntryOptions {
  readonly node?: string;
  readonly nodeAddress?: unknown;
  readonly id?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly tags?: unknown;
  readonly meta?: unknown;
  readonly weights?: unknown;
  readonly checks?: unknown;
}

/** A record with a passing node check and a passing service check, unless the options say otherwise. */
export function consulEntry(options: EntryOptions = {}): Readonly<Record<string, unknown>> {
  const { node = 'n1', nodeAddress = '10.0.0.1', id = 'web-1', address = '10.0.0.5', port = 8080 } = options;
  const { tags = [], meta = {}, weights = { Passing: 1, Warning: 1 } } = options;
  const { checks = [consulCheck('passing', 'serfHealth', ''), consulCheck('passing', `service:${id}`)] } = options;
  return {
    Node: { ID: `uuid-of-${node}`, Node: node, Address: nodeAddress, Datacenter: 'dc1' },
    Service: { ID: id, Service: 'web', Tags: tags, Address: address, Meta: meta, Port: port, Weights: weights },
    Checks: checks,
  };
}

/** One check; a `serviceId` of '' makes it a check of the node. */
export function consulCheck(status: unknown, checkId = 'service:web-1', serviceId = 'web-1') {
  return { Node: 'n1', CheckID: checkId, Name: checkId, Status: status, Output: '', ServiceID: serviceId };
}
