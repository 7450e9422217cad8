// The certificates of all listeners: read here and nowhere else, watched, and given to the workers when they change.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayConfig } from './config/gateway-schema.ts';
import type { TlsConfig } from './config/listener-schema.ts';
import type { Clock } from './core/clock.ts';
import type { CertificateState } from './core/gateway-state.ts';
import type { Log } from './core/log.ts';
import { FileWatch } from './file-watch.ts';
import {
  type BrokenFile,
  isSameMaterial,
  type MaterialReading,
  pathsToWatch,
  readMaterial,
} from './tls/read-material.ts';
import {
  type ListenerMaterial,
  materialKey,
  type ServedCertificate,
  type TlsInForce,
} from './tls/served-certificate.ts';
import { TICKET_KEY_BYTES } from './tls/server-policy.ts';

export interface ListenerCertificatesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Others are in force. */
  readonly onChange: (inForce: TlsInForce) => void;
}

export const CERTIFICATE_RELOADS = ['applied', 'unchanged', 'broken'] as const;
export type CertificateReload = (typeof CERTIFICATE_RELOADS)[number];

type Listen = GatewayConfig['listen'];

/** A ticket can be used no longer than its key: who took it may read what was resumed by it. */
const TICKET_KEY_LIFE_MS = 12 * 3_600_000;
/** A pair that does not go together may be in the middle of being replaced: after this time it is read once more. */
const SETTLE_MS = 250;
const REMIND_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const SOON_DAYS = 14;

export class ListenerCertificates {
  readonly #options: ListenerCertificatesOptions;
  readonly #watch: FileWatch;
  readonly #counts = new Map<CertificateReload, number>();
  readonly #timers: NodeJS.Timeout[] = [];
  #sources: ReadonlyMap<string, TlsConfig> = new Map();
  #readings: ReadonlyMap<string, MaterialReading> = new Map();
  #ticketKeys: Uint8Array = randomBytes(TICKET_KEY_BYTES);
  #watched: readonly string[] = [];
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ListenerCertificatesOptions) {
    this.#options = options;
    this.#watch = new FileWatch({
      files: () => this.#watched,
      onChange: () => this.#look(),
    });
  }

  /** Reads the certificates of the first listeners, and watches them; rejects when a listener has none. */
  async start(listen: Listen): Promise<void> {
    await this.replace(listen);
    await this.#watch.start();
    this.#timers.push(setInterval(() => this.#rotate(), TICKET_KEY_LIFE_MS).unref());
    this.#timers.push(setInterval(() => this.#remind(this.#served()), REMIND_MS).unref());
  }

  /** No fault of a file may end the watching. */
  async #look(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.#options.log.error({ err: error }, 'certificates could not be read again');
    }
  }

  stop(): void {
    this.#watch.stop();
    for (const timer of this.#timers) clearInterval(timer);
  }

  get inForce(): TlsInForce {
    const materials = [...this.#readings].flatMap(([key, { material }]): [string, ListenerMaterial][] => {
      return material === null ? [] : [[key, material]];
    });
    return { materials: new Map(materials), ticketKeys: this.#ticketKeys };
  }

  /** How many looks at the files ended so. */
  count(result: CertificateReload): number {
    return this.#counts.get(result) ?? 0;
  }

  /** Reads what other listeners serve; rejects, and changes nothing, when one of them has no certificate. */
  replace(listen: Listen): Promise<void> {
    const sources = new Map(listen.flatMap(({ tls }) => (tls === null ? [] : [[materialKey(tls), tls] as const])));
    return this.#inTurn(async () => {
      const readings = await this.#read(sources);
      for (const { material, broken } of readings.values()) {
        if (material === null) throw new Error(broken.map(({ file, why }) => `${file}: ${why}`).join('; '));
      }
      this.#sources = sources;
      this.#take(readings);
    });
  }

  /** Reads the same files anew, and gives what has changed to the workers. */
  refresh(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#sources.size === 0) return;
      const before = this.#readings;
      let readings = await this.#read(this.#sources);
      if (this.#hasNewFaults(readings)) {
        await delay(SETTLE_MS);
        readings = await this.#read(this.#sources);
      }
      const isChanged = [...readings].some(
        ([key, { material }]) => !isSame(material, before.get(key)?.material ?? null),
      );
      const isBroken = [...readings.values()].some(({ broken }) => broken.length > 0);
      this.#countAs(isBroken ? 'broken' : isChanged ? 'applied' : 'unchanged');
      this.#take(readings);
      if (isChanged) this.#options.onChange(this.inForce);
    });
  }

  /** What a listener serves; none where it has nothing. */
  servedOf(tls: TlsConfig): readonly ServedCertificate[] {
    return this.#readings.get(materialKey(tls))?.material?.certificates ?? [];
  }

  /** The certificates of a listener as they stand, with what is wrong with their files. */
  stateOf(tls: TlsConfig): CertificateState[] {
    const reading = this.#readings.get(materialKey(tls));
    if (reading === undefined) return [];
    const served = (reading.material?.certificates ?? []).map(({ files, names, notAfterMs }) => {
      return { certificate: files.cert, names, notAfterMs, problem: problemOf(reading.broken, files.cert) };
    });
    const known = new Set(served.map(({ certificate }) => certificate));
    const missing = reading.broken.filter(({ certificate, file }) => !known.has(certificate ?? file));
    const others = [...new Set(missing.map(({ certificate, file }) => certificate ?? file))];
    return [
      ...served,
      ...others.map((file) => {
        return { certificate: file, names: [], notAfterMs: null, problem: problemOf(reading.broken, file) };
      }),
    ];
  }

  async #read(sources: ReadonlyMap<string, TlsConfig>): Promise<Map<string, MaterialReading>> {
    const watched = await Promise.all([...sources.values()].map(pathsToWatch));
    this.#watched = [...new Set(watched.flat())];
    // What changes from here on is noticed.
    await this.#watch.markLoaded();
    const read = [...sources].map(async ([key, tls]) => {
      return [key, await readMaterial(tls, this.#readings.get(key)?.material ?? null)] as const;
    });
    return new Map(await Promise.all(read));
  }

  #hasNewFaults(readings: ReadonlyMap<string, MaterialReading>): boolean {
    const known = new Set(faultsOf(this.#readings));
    return faultsOf(readings).some((fault) => !known.has(fault));
  }

  /** Puts readings in force, and tells what is new about them. */
  #take(readings: ReadonlyMap<string, MaterialReading>): void {
    const { log } = this.#options;
    const known = new Set(this.#served().map(({ mark }) => mark));
    const complained = new Set(faultsOf(this.#readings));
    this.#readings = readings;
    for (const broken of [...readings.values()].flatMap((reading) => reading.broken)) {
      if (complained.has(text(broken))) continue;
      const { file, why } = broken;
      log.error({ file, why, inForce: 'last good version' }, 'certificate file cannot be used');
    }
    const fresh = this.#served().filter(({ mark }) => !known.has(mark));
    for (const certificate of fresh) log.info(figuresOf(certificate), 'certificate is in force');
    this.#remind(fresh);
  }

  /** Says which certificates expire soon, or have done so. */
  #remind(certificates: readonly ServedCertificate[]): void {
    const { clock, log } = this.#options;
    for (const certificate of certificates) {
      const leftMs = certificate.notAfterMs - clock.wallMs();
      const figures = { ...figuresOf(certificate), daysLeft: Math.floor(leftMs / DAY_MS) };
      if (leftMs < 0) log.warn(figures, 'certificate has expired');
      else if (leftMs < SOON_DAYS * DAY_MS) log.warn(figures, 'certificate expires soon');
    }
  }

  #rotate(): void {
    this.#ticketKeys = randomBytes(TICKET_KEY_BYTES);
    this.#options.onChange(this.inForce);
  }

  #served(): ServedCertificate[] {
    return [...this.#readings.values()].flatMap(({ material }) => material?.certificates ?? []);
  }

  #countAs(result: CertificateReload): void {
    this.#counts.set(result, this.count(result) + 1);
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const next = this.#running.then(task);
    this.#running = next.catch(() => undefined);
    return next;
  }
}

function faultsOf(readings: ReadonlyMap<string, MaterialReading>): string[] {
  return [...readings.values()].flatMap(({ broken }) => broken.map(text));
}

function isSame(one: ListenerMaterial | null, other: ListenerMaterial | null): boolean {
  return one === null || other === null ? one === other : isSameMaterial(one, other);
}

function figuresOf({ files, names, notAfterMs }: ServedCertificate): Readonly<Record<string, unknown>> {
  return { certificate: files.cert, names, notAfter: new Date(notAfterMs).toISOString() };
}

function problemOf(broken: readonly BrokenFile[], certificate: string): string | null {
  const own = broken.filter((each) => (each.certificate ?? each.file) === certificate);
  return own.length === 0 ? null : own.map(text).join('; ');
}

function text({ file, why }: BrokenFile): string {
  return `${file}: ${why}`;
}
