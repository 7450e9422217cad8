// A gateway as operators run it: `weir start` in a folder of its own, on ports of its own, with two workers.
import { rm } from 'node:fs/promises';
import type { ServiceDocument } from '../../gateway/admin/upstreams-document.ts';
import { findFreePorts } from './free-ports.ts';
import { type Answer, type SendOptions, send } from './send.ts';
import { waitFor } from './wait-for.ts';
import { type CommandEnd, startCommand, type WeirCommand } from './weir-command.ts';
import { createWeirFolder, type WeirOptions } from './weir-folder.ts';
import type { AccessLine, LogLine, UpstreamsPage } from './weir-pages.ts';

type ServiceCondition = (service: ServiceDocument) => boolean;

export interface WeirProcess {
  /** Of the public listener, without a final slash. */
  readonly url: string;
  readonly port: number;
  readonly adminUrl: string;
  readonly folder: string;
  /** What it logged since its last start, less the access log; throws when a line is not JSON. */
  log(): readonly LogLine[];
  accessLog(): readonly AccessLine[];
  /** Waits until a message was logged; gives all lines that have it. */
  logged(message: string): Promise<readonly LogLine[]>;
  get(path: string, options?: SendOptions): Promise<Answer>;
  admin(path: string, options?: SendOptions): Promise<Answer>;
  upstreams(): Promise<UpstreamsPage>;
  service(name: string): Promise<ServiceDocument>;
  /** Waits until the document of a service satisfies the condition, for 20 seconds unless told otherwise. */
  serviceWith(name: string, what: string, is: ServiceCondition, limitMs?: number): Promise<ServiceDocument>;
  /** Waits until the service has these active endpoints and every worker knows it. */
  activePorts(name: string, ports: readonly number[]): Promise<void>;
  /** Restarts worker `id` abruptly. */
  killWorker(id: number): Promise<void>;
  signal(name: NodeJS.Signals): void;
  ended(limitMs: number): Promise<CommandEnd>;
  /** Ends the process politely; its folder and its ports stay for `start`. */
  stop(): Promise<void>;
  /** Starts it again, if need be after a stop, and waits until it is ready. */
  start(): Promise<void>;
  /** Ends the process, checks that it ended well, and removes the folder. */
  close(): Promise<void>;
}

const LIMIT_MS = 20_000;

/** Starts a gateway and waits until it is ready. */
export async function startWeir(options: WeirOptions): Promise<WeirProcess> {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const folder = await createWeirFolder(options, { port, adminPort });
  const weir = new Weir({ port, adminPort, folder, token: options.adminToken ?? '' });
  try {
    await weir.start();
    return weir;
  } catch (error) {
    await weir.close().catch(() => undefined);
    throw error;
  }
}

interface Place {
  readonly port: number;
  readonly adminPort: number;
  readonly folder: string;
  readonly token: string;
}

class Weir implements WeirProcess {
  readonly port: number;
  readonly url: string;
  readonly adminUrl: string;
  readonly folder: string;
  readonly #token: string;
  readonly #parsed: LogLine[] = [];
  #command: WeirCommand | undefined;

  constructor({ port, adminPort, folder, token }: Place) {
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
    this.folder = folder;
    this.#token = token;
  }

  get #running(): WeirCommand {
    if (this.#command === undefined) throw new Error('weir was never started');
    return this.#command;
  }

  async start(): Promise<void> {
    await this.stop();
    this.#parsed.length = 0;
    const command = startCommand(['start', '--config', 'config/gateway.yaml', '--routes', 'routes'], this.folder);
    this.#command = command;
    const isReady = async () => {
      if (command.end !== null) throw new Error('weir ended');
      const answer = await this.admin('/readyz').catch(() => undefined);
      return answer?.status === 200;
    };
    await waitFor(isReady, { limitMs: LIMIT_MS, what: 'a gateway that is ready' }).catch((error: Error) => {
      throw new Error(`${error.message}; its last words: ${command.stderr}${command.lines.slice(-5).join('\n')}`);
    });
  }

  log(): readonly LogLine[] {
    return this.#lines().filter(({ kind }) => kind !== 'access');
  }

  accessLog(): readonly AccessLine[] {
    return this.#lines().filter((line): line is LogLine & AccessLine => line.kind === 'access');
  }

  logged(message: string): Promise<readonly LogLine[]> {
    const find = () => {
      const lines = this.log().filter(({ msg }) => msg === message);
      return lines.length > 0 && lines;
    };
    return waitFor(find, { limitMs: LIMIT_MS, what: `the log line "${message}"` });
  }

  get(path: string, options?: SendOptions): Promise<Answer> {
    return send(`${this.url}${path}`, options);
  }

  admin(path: string, options: SendOptions = {}): Promise<Answer> {
    const headers = { ...(this.#token !== '' && { Authorization: `Bearer ${this.#token}` }), ...options.headers };
    return send(`${this.adminUrl}${path}`, { ...options, headers });
  }

  async upstreams(): Promise<UpstreamsPage> {
    const { status, body } = await this.admin('/debug/upstreams');
    if (status !== 200) throw new Error(`/debug/upstreams answered ${status}: ${body}`);
    return JSON.parse(body);
  }

  async service(name: string): Promise<ServiceDocument> {
    const found = (await this.upstreams()).services.find(({ service }) => service === name);
    if (found === undefined) throw new Error(`/debug/upstreams does not know ${name}`);
    return found;
  }

  async serviceWith(
    name: string,
    what: string,
    is: ServiceCondition,
    limitMs: number = LIMIT_MS,
  ): Promise<ServiceDocument> {
    let last: ServiceDocument | undefined;
    const condition = async () => {
      last = await this.service(name);
      return is(last) && last;
    };
    return waitFor(condition, { limitMs, what }).catch((error: Error) => {
      throw new Error(`${error.message}; at last: ${JSON.stringify(last)}`);
    });
  }

  async activePorts(name: string, ports: readonly number[]): Promise<void> {
    const wanted = ports.map((port) => `127.0.0.1:${port}`).toSorted();
    const condition = async () => {
      const { gateway, snapshot, services } = await this.upstreams();
      const endpoints = services.find(({ service }) => service === name)?.endpoints ?? [];
      const active = endpoints.filter(({ state }) => state === 'active').map(({ endpoint }) => endpoint);
      const isKnown = gateway.workers.every((worker) => worker.snapshot === snapshot.version);
      return isKnown && String(active.toSorted()) === String(wanted);
    };
    await waitFor(condition, { limitMs: LIMIT_MS, what: `the active endpoints ${wanted}` });
  }

  async killWorker(id: number): Promise<void> {
    const { status, body } = await this.admin(`/debug/workers/${id}/restart?abrupt`, { method: 'POST' });
    if (status !== 202) throw new Error(`the restart of worker ${id} answered ${status}: ${body}`);
  }

  signal(name: NodeJS.Signals): void {
    this.#running.signal(name);
  }

  ended(limitMs: number): Promise<CommandEnd> {
    return this.#running.ended(limitMs);
  }

  async stop(): Promise<void> {
    if (this.#command?.end === null) await this.#command.stop();
  }

  async close(): Promise<void> {
    try {
      await this.stop();
    } finally {
      await rm(this.folder, { recursive: true, force: true });
    }
  }

  #lines(): readonly LogLine[] {
    const { lines } = this.#running;
    while (this.#parsed.length < lines.length) this.#parsed.push(JSON.parse(lines[this.#parsed.length] ?? ''));
    return this.#parsed;
  }
}
