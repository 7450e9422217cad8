// The servers of one scenario: upstreams and gateways, started, and stopped again whatever happens.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Features, Peer } from '../peers/peer.ts';
import { type Certificate, createCertificate } from '../support/certificate.ts';
import { GATEWAY_CORE, LOAD_CORE } from '../support/cores.ts';
import { freeRange } from '../support/free-range.ts';
import { type Running, startPinned } from '../support/process.ts';
import type { Scenario } from './scenario.ts';

export interface Gateway {
  readonly name: string;
  readonly port: number;
  readonly process: Running;
}

const SUPPORT = resolve(import.meta.dirname, '../support');

export class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  readonly #running: Running[] = [];
  readonly #upstreams = new Map<number, Running>();
  #gateways = 0;
  #certificate: Certificate | undefined;

  /** Starts an upstream of content of so many octets; gives its ports. */
  async upstream(bytes: number, ports = 1): Promise<readonly number[]> {
    const range = await freeRange(ports);
    const port = range[0] ?? 0;
    await this.#startUpstream(port, ['upstream-server.ts', String(port), String(bytes), String(ports)]);
    return range;
  }

  async webSocketUpstream(): Promise<readonly number[]> {
    const [port = 0] = await freeRange(1);
    await this.#startUpstream(port, ['websocket-upstream-server.ts', String(port)]);
    return [port];
  }

  async gateway(peer: Peer, features: Features): Promise<Gateway> {
    const [port = 0] = await freeRange(2);
    const folder = join(this.folder, `gateway-${this.#gateways++}`);
    mkdirSync(folder);
    const process = await peer.start({ core: GATEWAY_CORE, port, folder, features });
    this.#running.push(process);
    return { name: peer.name, port, process };
  }

  /** The certificate of all its gateways, made when it is first asked for. */
  certificate(): Certificate {
    this.#certificate ??= createCertificate(this.folder);
    return this.#certificate;
  }

  /** Stops the upstream whose first port this is. */
  async stopUpstream(port: number): Promise<void> {
    await this.#upstreams.get(port)?.stop();
  }

  async close(): Promise<void> {
    for (const each of this.#running.reverse()) await each.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startUpstream(port: number, [script = '', ...rest]: readonly string[]): Promise<void> {
    const args = [join(SUPPORT, script), ...rest];
    const upstream = await startPinned({ core: LOAD_CORE, command: process.execPath, args, port });
    this.#running.push(upstream);
    this.#upstreams.set(port, upstream);
  }
}

/** Starts the upstreams that a scenario wants for one gateway, and gives the features with their ports. */
export async function featuresFor(scenario: Scenario, scene: Scene): Promise<Features> {
  const { downloadBytes = 100, endpoints = 1 } = scenario;
  const certificate = scenario.features?.isTls === true ? { certificate: scene.certificate() } : {};
  const features = { ...scenario.features, ...certificate };
  if (features.isWebSocket === true) return { ...features, upstreamPorts: await scene.webSocketUpstream() };
  const upstreamPorts = await scene.upstream(downloadBytes, endpoints);
  if (features.degraded === undefined) return { ...features, upstreamPorts };
  const [fallbackPort = 0] = await scene.upstream(downloadBytes);
  return { ...features, upstreamPorts, fallbackPort };
}
