// The configuration files of a gateway that runs: changed as operators change them, and loaded anew.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { QuarantinedFile, ReloadReport } from '../../gateway/reloader.ts';
import type { WeirProcess } from './weir-process.ts';

/** The document of /debug/config. */
export interface ConfigPage {
  readonly gateway: Readonly<Record<string, unknown>>;
  readonly routes: readonly { readonly name: string; readonly service: string; readonly source: string }[];
  readonly quarantined: readonly QuarantinedFile[];
}

export class ConfigFiles {
  readonly #weir: WeirProcess;

  constructor(weir: WeirProcess) {
    this.#weir = weir;
  }

  path(name: string): string {
    return join(this.#weir.folder, name);
  }

  /** Writes a route file, as text or as what its YAML says. */
  route(name: string, content: object | string): Promise<void> {
    const text = typeof content === 'string' ? content : stringify(content);
    return writeFile(this.path(`routes/${name}.yaml`), text);
  }

  removeRoute(name: string): Promise<void> {
    return rm(this.path(`routes/${name}.yaml`));
  }

  /** Sets keys of gateway.yaml and keeps the others. */
  async gateway(changes: Readonly<Record<string, unknown>>): Promise<void> {
    const path = this.path('config/gateway.yaml');
    const before: object = parse(await readFile(path, 'utf8'));
    await writeFile(path, stringify({ ...before, ...changes }));
  }

  /** Has the gateway load its files now. */
  async reload(): Promise<ReloadReport> {
    const { status, body } = await this.#weir.admin('/debug/reload', { method: 'POST' });
    if (status !== 200) throw new Error(`the reload answered ${status}: ${body}`);
    return JSON.parse(body);
  }

  async page(): Promise<ConfigPage> {
    const { status, body } = await this.#weir.admin('/debug/config');
    if (status !== 200) throw new Error(`/debug/config answered ${status}: ${body}`);
    return JSON.parse(body);
  }
}
