// A real Consul server with data of its own, that drills may stop, wipe, and take tokens away from.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The token that may do everything. */
export const ROOT_TOKEN = '11111111-2222-3333-4444-555555555555';

export interface Registration {
  readonly name: string;
  readonly id: string;
  readonly port: number;
  readonly weight?: number;
  /** Seconds of a TTL check; without it the instance has no check. */
  readonly ttlSeconds?: number;
}

/** Ports: HTTP, and four more for the agent's own use. */
export class DrillConsul {
  readonly url: string;
  readonly #ports: readonly number[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'weir-consul-'));
  #agent: ChildProcess | undefined;

  constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.url = `http://127.0.0.1:${ports[0]}`;
  }

  /** Starts the agent on what its folder holds, and waits for a leader. */
  async start(): Promise<void> {
    const [http, serfLan, serfWan, server] = this.#ports;
    const acl = `acl { enabled = true default_policy = "deny" tokens { master = "${ROOT_TOKEN}" agent = "${ROOT_TOKEN}" } }`;
    this.#agent = spawn(
      'consul',
      [
        ...['agent', '-server', '-bootstrap-expect=1', '-node=drill', '-log-level=err', '-data-dir', this.#folder],
        ...['-client', '127.0.0.1', '-bind', '127.0.0.1', '-http-port', String(http)],
        ...['-serf-lan-port', String(serfLan), '-serf-wan-port', String(serfWan), '-server-port', String(server)],
        ...['-dns-port', '-1', '-grpc-port', '-1', '-hcl', acl],
      ],
      { stdio: 'ignore' },
    );
    for (let attempt = 0; attempt < 300; attempt++) {
      const nodes = await this.#call('GET', '/v1/catalog/nodes?consistent').catch(() => '');
      if (nodes.includes('drill')) return;
      await delay(100);
    }
    throw new Error('Consul has no leader');
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const agent = this.#agent;
    if (agent === undefined || agent.exitCode !== null || agent.signalCode !== null) return;
    const gone = once(agent, 'exit');
    agent.kill(signal);
    await gone;
  }

  /** Forgets everything; the agent must be stopped. */
  wipe(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async register({ name, id, port, weight = 1, ttlSeconds }: Registration): Promise<void> {
    const check =
      ttlSeconds === undefined ? {} : { Check: { CheckID: `check-${id}`, TTL: `${ttlSeconds}s`, Status: 'passing' } };
    const meta = { weight: String(weight) };
    await this.#put('/v1/agent/service/register', {
      Name: name,
      ID: id,
      Address: '127.0.0.1',
      Port: port,
      Meta: meta,
      ...check,
    });
  }

  async deregister(id: string): Promise<void> {
    await this.#put(`/v1/agent/service/deregister/${id}`);
  }

  async maintenance(id: string, isOn: boolean): Promise<void> {
    await this.#put(`/v1/agent/service/maintenance/${id}?enable=${isOn}`);
  }

  async check(id: string, isPassing: boolean): Promise<void> {
    await this.#put(`/v1/agent/check/${isPassing ? 'pass' : 'fail'}/check-${id}`);
  }

  /** A token that may read services and nodes. */
  async createToken(secret: string): Promise<void> {
    const rules = 'service_prefix "" { policy = "read" } node_prefix "" { policy = "read" }';
    // The policy may be there from before.
    await this.#put('/v1/acl/policy', { Name: 'weir', Rules: rules }).catch(() => undefined);
    await this.#put('/v1/acl/token', { SecretID: secret, Policies: [{ Name: 'weir' }] });
  }

  async revokeToken(secret: string): Promise<void> {
    const tokens: unknown = JSON.parse(await this.#call('GET', '/v1/acl/tokens'));
    for (const token of Array.isArray(tokens) ? tokens : []) {
      const accessor = String(token.AccessorID);
      const whole = JSON.parse(await this.#call('GET', `/v1/acl/token/${accessor}`));
      if (whole.SecretID === secret) await this.#call('DELETE', `/v1/acl/token/${accessor}`);
    }
  }

  async close(): Promise<void> {
    await this.stop();
    this.wipe();
  }

  async #put(path: string, body?: object): Promise<void> {
    await this.#call('PUT', path, body);
  }

  async #call(method: string, path: string, body?: object): Promise<string> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { 'X-Consul-Token': ROOT_TOKEN },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(5000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text;
  }
}
