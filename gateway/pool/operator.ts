// What an operator says of an endpoint: to let it drain, to set it aside, or to take either back.
import { EndpointCell } from '../shared/endpoint-cell.ts';
import { ServiceCell } from '../shared/service-cell.ts';
import type { ServiceSnapshot } from './snapshot.ts';

/** `undrain` takes a drain back; `restore` brings an endpoint back whatever set it aside, traffic or an operator. */
export const OPERATOR_ACTIONS = ['drain', 'undrain', 'eject', 'restore'] as const;
export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

/**
 * Does what the operator says, for all workers; it holds until it is taken back or the endpoint is gone. False when the
 * service has no such endpoint. `nowMs` is the shared clock.
 */
export function operate(snapshot: ServiceSnapshot, key: string, action: OperatorAction, nowMs: number): boolean {
  const facts = snapshot.endpoints.find((endpoint) => endpoint.key === key);
  if (facts === undefined) return false;
  const cell = new EndpointCell(facts.cell, -1);
  switch (action) {
    case 'drain':
    case 'eject':
      cell.setOperatorWord(action);
      break;
    case 'undrain':
      if (cell.operatorWord() === 'drain') cell.setOperatorWord('none');
      break;
    case 'restore':
      cell.restore(nowMs);
  }
  new ServiceCell(snapshot.cell, -1).bumpEpoch();
  return true;
}
