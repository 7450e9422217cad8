// The folder that a gateway of a test runs in: gateway.yaml and its route files.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

export interface WeirOptions {
  /** Route files by name, as their YAML says it. */
  readonly routes: Readonly<Record<string, object>>;
  /** Keys of gateway.yaml besides listen, admin, workers and the drain time, which are set here. */
  readonly gateway?: Readonly<Record<string, unknown>>;
  readonly adminToken?: string;
}

/** Writes the files into a new folder of the system's temporary one and gives its path. */
export async function createWeirFolder(
  options: WeirOptions,
  ports: { port: number; adminPort: number },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-e2e-'));
  const gateway = {
    listen: [{ address: `127.0.0.1:${ports.port}` }],
    admin: { address: `127.0.0.1:${ports.adminPort}`, ...(options.adminToken && { token: options.adminToken }) },
    workers: 2,
    shutdown: { drain: '5s' },
    ...options.gateway,
  };
  await mkdir(join(folder, 'config'));
  await mkdir(join(folder, 'routes'));
  await writeFile(join(folder, 'config/gateway.yaml'), stringify(gateway));
  for (const [name, route] of Object.entries(options.routes)) {
    await writeFile(join(folder, `routes/${name}.yaml`), stringify(route));
  }
  return folder;
}
