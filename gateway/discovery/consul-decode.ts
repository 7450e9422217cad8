// Reads the body of Consul's `/v1/health/service/<name>`: every instance with its status, or why it is no answer.
import { canonicalHost } from '../core/canonical-host.ts';
import type { Instance, InstanceStatus } from '../core/instance.ts';
import { describeValue, quote } from '../core/quote.ts';
import {
  badPort,
  badWeight,
  boundSentences,
  type Decoded,
  isObject,
  parseJson,
  readMeta,
  readPort,
  readStrings,
  readWeight,
} from './record.ts';

const SEVERITY: Readonly<Record<InstanceStatus, number>> = { passing: 0, warning: 1, critical: 2, maintenance: 3 };

type Entry = { readonly instance: Instance; readonly note: string | null } | { readonly skipped: string };

/**
 * Decodes the health of one service. A body that is not a JSON list is `undecodable`, never an empty list. Records
 * that cannot be used are skipped with a sentence each: no Service, a port outside 1..65535 (a string of digits is
 * read as its number), an address that cannot be connected to (an IPv6 literal may stand in brackets; one with a
 * zone, as `fe80::1%eth0`, cannot be used from here). An instance's ID is `node/serviceID`.
 */
export function decodeHealthService(text: string): Decoded {
  const json = parseJson(text);
  if ('error' in json) return json;
  if (!Array.isArray(json.value)) {
    return { kind: 'undecodable', error: `the body is not a list, but ${describeValue(json.value)}` };
  }
  const instances: Instance[] = [];
  const skipped: string[] = [];
  const notes: string[] = [];
  for (const record of json.value) {
    const entry = decodeEntry(record);
    if ('skipped' in entry) {
      skipped.push(entry.skipped);
      continue;
    }
    instances.push(entry.instance);
    if (entry.note !== null) notes.push(entry.note);
  }
  return { kind: 'records', instances, skipped: boundSentences(skipped), notes: boundSentences(notes) };
}

function decodeEntry(record: unknown): Entry {
  if (!isObject(record)) return { skipped: `a record is not an object, but ${describeValue(record)}` };
  const { Node: node, Service: service, Checks: checks } = record;
  const nodeName = isObject(node) && typeof node.Node === 'string' ? node.Node : '';
  if (!isObject(service)) {
    return { skipped: `a record of node ${quote(nodeName)} has no service, but ${describeValue(service)}` };
  }
  const serviceId = readName(service.ID) ?? readName(service.Service);
  if (serviceId === undefined) return { skipped: `a record of node ${quote(nodeName)} has no service ID` };
  const id = `${nodeName}/${serviceId}`;

  const address = registeredAddress(service.Address, isObject(node) ? node.Address : undefined);
  const host = typeof address === 'string' ? canonicalHost(address) : undefined;
  if (host === undefined) {
    return { skipped: `instance ${quote(id)}: its address cannot be connected to: ${describeValue(address)}` };
  }
  const port = readPort(service.Port);
  if (port === undefined) return { skipped: `instance ${quote(id)}: ${badPort(service.Port)}` };

  const status = aggregateStatus(checks);
  const weight = weigh(service, status);
  return {
    instance: {
      id,
      host,
      port,
      weight: weight.value,
      status,
      tags: readStrings(service.Tags),
      meta: readMeta(service.Meta),
    },
    note: weight.complaint === null ? null : `instance ${quote(id)}: ${weight.complaint}`,
  };
}

function readName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function registeredAddress(serviceAddress: unknown, nodeAddress: unknown): unknown {
  return serviceAddress === '' || serviceAddress === undefined || serviceAddress === null
    ? nodeAddress
    : serviceAddress;
}

/**
 * The worst of all checks of the instance and of its node, as Consul's own AggregatedStatus has it: a maintenance
 * check outweighs critical, critical outweighs warning. What cannot be read counts as critical; no checks is passing.
 */
function aggregateStatus(checks: unknown): InstanceStatus {
  if (checks === undefined || checks === null) return 'passing';
  if (!Array.isArray(checks)) return 'critical';
  let worst: InstanceStatus = 'passing';
  for (const check of checks) {
    const status = checkStatus(check);
    if (SEVERITY[status] > SEVERITY[worst]) worst = status;
  }
  return worst;
}

function checkStatus(check: unknown): InstanceStatus {
  if (!isObject(check)) return 'critical';
  const id = check.CheckID;
  if (typeof id === 'string' && (id === '_node_maintenance' || id.startsWith('_service_maintenance:'))) {
    return 'maintenance';
  }
  const status = check.Status;
  return status === 'passing' || status === 'warning' || status === 'maintenance' ? status : 'critical';
}

/** SPEC section 4: `Meta.weight`, else `Weights.Warning` of a warning instance or `Weights.Passing`, else 1. */
function weigh(
  service: Readonly<Record<string, unknown>>,
  status: InstanceStatus,
): { readonly value: number; readonly complaint: string | null } {
  const { Meta: meta, Weights: weights } = service;
  const byStatus = isObject(weights) ? weights[status === 'warning' ? 'Warning' : 'Passing'] : undefined;
  const given = isObject(meta) && meta.weight !== undefined ? meta.weight : byStatus;
  if (given === undefined || given === null) return { value: 1, complaint: null };
  const weight = readWeight(given);
  return weight === undefined ? { value: 1, complaint: badWeight(given) } : { value: weight, complaint: null };
}
