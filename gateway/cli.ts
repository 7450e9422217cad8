#!/usr/bin/env node
// The `weir` command: finds the command in the first word and runs its file.
import { VERSION } from './version.ts';

type Command = (args: string[]) => Promise<number>;

const USAGE = `weir ${VERSION}: a dynamic edge gateway

  weir start [--config FILE] [--routes DIR]   run the gateway (the default command)
  weir check [--config FILE] [--routes DIR]   validate everything, print every problem
  weir explain METHOD URL                     what a request would meet: route, endpoint, and why
  weir upstreams [--watch]                    the pools of a running gateway as a table
  weir schema gateway|route                   print a JSON Schema
  weir registry [--listen ADDR] [--store URL] run the table registry alone
  weir register --name NAME --port N -- COMMAND
                                              run a command as a registered instance
  weir demo                                   a gateway with three sample instances, no server needed

  weir COMMAND --help                         more about a command
  weir --version
`;

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./commands/start.ts')).start,
  check: async () => (await import('./commands/check.ts')).check,
  explain: async () => (await import('./commands/explain.ts')).explain,
  upstreams: async () => (await import('./commands/upstreams.ts')).upstreams,
  schema: async () => (await import('./commands/schema.ts')).schema,
  register: async () => (await import('./commands/register.ts')).register,
  registry: async () => (await import('./commands/registry.ts')).registry,
  demo: async () => (await import('./commands/demo.ts')).demo,
};

process.exitCode = await run(process.argv.slice(2));

async function run(words: string[]): Promise<number> {
  const [first = 'start', ...rest] = words;
  if (first === '--version') {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    process.stderr.write(USAGE);
    return 0;
  }
  const isOption = first.startsWith('-');
  const load = Object.hasOwn(COMMANDS, isOption ? 'start' : first) ? COMMANDS[isOption ? 'start' : first] : undefined;
  if (load === undefined) {
    process.stderr.write(`weir: there is no command "${first}"\n\n${USAGE}`);
    return 2;
  }
  try {
    const command = await load();
    return await command(isOption ? words : rest);
  } catch (error) {
    process.stderr.write(`weir: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
