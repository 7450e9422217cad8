// `weir schema`: prints the JSON Schema of a kind of configuration file.
import { gatewayJsonSchema, type JsonSchema, routeJsonSchema } from '../config/json-schema.ts';

const USAGE = `usage: weir schema gateway|route

Prints the JSON Schema of gateway.yaml or of a route file, for editors.
`;

const SCHEMAS: ReadonlyMap<string, JsonSchema> = new Map([
  ['gateway', gatewayJsonSchema],
  ['route', routeJsonSchema],
]);

/** Runs `weir schema` with the arguments after the command's name; the exit code is 0, or 2 for bad usage. */
export async function schema(args: string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stderr.write(USAGE);
    return 0;
  }
  const [kind = '', ...rest] = args;
  const found = rest.length === 0 ? SCHEMAS.get(kind) : undefined;
  if (found === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  return 0;
}
