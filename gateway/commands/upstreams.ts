// `weir upstreams`: the pools of a running gateway as a table, once or every second.
import { parseArgs } from 'node:util';
import { printable, printableJson } from '../core/printable.ts';
import {
  ADMIN_VARIABLE,
  type AdminReply,
  adminPlace,
  askAdmin,
  DEFAULT_ADMIN,
  TOKEN_VARIABLE,
} from './admin-client.ts';
import { write } from './output.ts';
import { paintFor } from './terminal.ts';
import { readDocument, readUpstreams } from './upstreams-page.ts';
import { upstreamsLines } from './upstreams-table.ts';
import { type Shown, UpstreamsWatch } from './upstreams-watch.ts';

const USAGE = `usage: weir upstreams [--admin URL] [--service NAME] [--watch] [--json]

Shows the pools of a running gateway: every endpoint with its weight (that of its source / what it is chosen by now),
state, load, counts, latency, and why it gets no traffic or less than its weight.

  --admin URL      the admin address of the gateway (${ADMIN_VARIABLE}, or ${DEFAULT_ADMIN})
  --service NAME   that service only
  --watch          draws it anew every second until Ctrl-C, also while the gateway is away
  --json           prints the document of /debug/upstreams; with --watch one line each second
  --help           prints this

The token of the admin address is taken from ${TOKEN_VARIABLE}. NO_COLOR=1 for no colours.
Exit code: 0 when it was shown, 1 when no gateway could be asked, 2 for bad usage.
`;

const QUESTION = { target: '/debug/upstreams', accept: 'application/json' };

type Options = Exclude<ReturnType<typeof readOptions>, string>;

/** Runs `weir upstreams` with the arguments after the command's name; resolves with the exit code. */
export async function upstreams(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') return misused(options);
  if (options.help) {
    process.stderr.write(USAGE);
    return 0;
  }
  const place = adminPlace(options.admin, process.env);
  if (typeof place === 'string') return misused(place);
  if (options.watch) {
    return new UpstreamsWatch({
      ask: (signal) => askAdmin(place, { ...QUESTION, signal }),
      show: (reply) => (options.json ? jsonOf(reply, options) : linesOf(reply, options)),
      isScreen: process.stdout.isTTY && !options.json,
    }).run();
  }
  const reply = await askAdmin(place, QUESTION);
  const shown = options.json ? jsonOf(reply, options) : linesOf(reply, options);
  if (shown.kind === 'lines') {
    await write(shown.lines.map((line) => `${line}\n`).join(''));
    return 0;
  }
  process.stderr.write(`weir upstreams: ${printable(shown.why)}\n`);
  return 1;
}

function readOptions(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        admin: { type: 'string' },
        service: { type: 'string' },
        watch: { type: 'boolean', default: false },
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

function linesOf(reply: AdminReply, { service }: Options): Shown {
  if (reply.kind !== 'document') return absence(reply);
  const page = readUpstreams(reply.text);
  if (page === undefined) return NOT_WEIR;
  const services = servicesOf(page, service);
  if (typeof services === 'string') return { kind: 'away', why: services };
  const paint = paintFor(process.stdout.isTTY, process.env);
  return { kind: 'lines', lines: upstreamsLines(page, services, paint) };
}

/** The document as it is; of one service only where that is asked for. */
function jsonOf(reply: AdminReply, { service, watch }: Options): Shown {
  if (reply.kind !== 'document') return absence(reply);
  const document = readDocument(reply.text);
  if (document === undefined) return NOT_WEIR;
  const services = servicesOf(document, service);
  if (typeof services === 'string') return { kind: 'away', why: services };
  const text = JSON.stringify({ ...document, services }, null, watch ? 0 : 2);
  return { kind: 'lines', lines: [printableJson(text)] };
}

const NOT_WEIR: Shown = { kind: 'refused', why: 'what answers is not the admin address of a Weir of this version' };

function absence({ kind, why }: Exclude<AdminReply, { kind: 'document' }>): Shown {
  return { kind: kind === 'away' ? 'away' : 'refused', why };
}

/** Those that are wanted; a sentence when the gateway has none of that name. */
function servicesOf<S extends { readonly service: string }>(
  { services }: { readonly services: readonly S[] },
  name: string | undefined,
): readonly S[] | string {
  if (name === undefined) return services;
  const wanted = services.filter(({ service }) => service === name);
  if (wanted.length > 0) return wanted;
  const known = services.map(({ service }) => service).join(', ');
  return `no route has the service ${name}; there are: ${known === '' ? 'none' : known}`;
}

function misused(why: string): number {
  process.stderr.write(`weir upstreams: ${printable(why)}\n\n${USAGE}`);
  return 2;
}
