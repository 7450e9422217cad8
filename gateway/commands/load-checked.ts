// What `weir check` and `weir start` share: their options, and a configuration whose routes do not tie.
import { parseArgs } from 'node:util';
import { type LoadOptions, type LoadResult, loadConfig } from '../config/load.ts';
import { findConflicts } from '../routing/conflicts.ts';

export const DEFAULT_CONFIG = 'config/gateway.yaml';

export interface ConfigArgs {
  readonly config: string;
  readonly routes?: string;
  readonly json: boolean;
  readonly help: boolean;
}

/** Reads the options of a command that loads a configuration; a sentence instead when they are wrong. */
export function parseConfigArgs(args: string[]): ConfigArgs | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        config: { type: 'string', default: DEFAULT_CONFIG },
        routes: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/** Loads and checks all files, with the variables of this process. */
export function loadChecked(args: ConfigArgs): Promise<LoadResult> {
  return loadConfig({ ...loadOptions(args), checkRoutes: findConflicts });
}

/** Which files to load, with the variables of this process. */
export function loadOptions({ config, routes }: ConfigArgs): LoadOptions {
  return { gatewayFile: config, ...(routes !== undefined && { routesFolder: routes }), environment: process.env };
}
