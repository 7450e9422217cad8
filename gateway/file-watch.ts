// Notices that configuration files have changed: looks at them now and then, so that no way of saving escapes it.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRouteFile } from './config/read-file.ts';

export interface FileWatchOptions {
  /** Files to look at besides the route files. */
  readonly files: () => readonly string[];
  /** A folder whose route files are looked at too. */
  readonly routesFolder?: () => string;
  /** Called when the files have changed and then stood still for one look. */
  readonly onChange: () => Promise<void>;
}

/** The time between two looks; more where a look takes long. */
const INTERVAL_MS = 500;
const LOOK_SHARE = 20;

/**
 * Looks at names, sizes, times and inodes: editors that save by renaming, a ConfigMap that swaps a link, and files that
 * are written bit by bit all show in these, which cannot be said of the events of file systems.
 */
export class FileWatch {
  readonly #options: FileWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** What was seen when the files were last loaded, and at the last look. */
  #loaded = '';
  #last = '';

  constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.markLoaded();
    this.#schedule(INTERVAL_MS);
  }

  /** What stands in the files at this moment is known. */
  async markLoaded(): Promise<void> {
    this.#loaded = await this.#look();
    this.#last = this.#loaded;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(pauseMs: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#check(), pauseMs).unref();
  }

  async #check(): Promise<void> {
    const startedMs = performance.now();
    const seen = await this.#look();
    const tookMs = performance.now() - startedMs;
    const hasSettled = seen === this.#last;
    this.#last = seen;
    if (seen !== this.#loaded && hasSettled && !this.#isStopped) {
      this.#loaded = seen;
      await this.#options.onChange();
    }
    this.#schedule(Math.max(INTERVAL_MS, tookMs * LOOK_SHARE));
  }

  async #look(): Promise<string> {
    const folder = this.#options.routesFolder?.() ?? '';
    const names = folder === '' ? [] : await readdir(folder).catch(() => []);
    const routes = names.filter(isRouteFile).sort();
    const paths = [...this.#options.files(), ...routes.map((name) => join(folder, name))];
    return (await Promise.all(paths.map(markOf))).join('\n');
  }
}

async function markOf(path: string): Promise<string> {
  try {
    // The time of a change is told even by tools that set the time of writing back.
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return `${path} ${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch {
    return `${path} -`;
  }
}
