// `weir explain`: says what a request would meet, asked of a running gateway or told from the files.
import { parseArgs } from 'node:util';
import { formatProblem } from '../config/problem.ts';
import { printable, printableJson, printableLines } from '../core/printable.ts';
import { explain as explainRequest } from '../proxy/explain/explain.ts';
import { explanationText } from '../proxy/explain/explanation-text.ts';
import { ADMIN_VARIABLE, adminPlace, askAdmin, DEFAULT_ADMIN, TOKEN_VARIABLE } from './admin-client.ts';
import { DEFAULT_CONFIG, loadChecked } from './load-checked.ts';
import { offlineFacts } from './offline-facts.ts';
import { write } from './output.ts';

const USAGE = `usage: weir explain METHOD URL [-H 'name: value']... [--client IP] [--admin URL] [--json]
       weir explain METHOD URL [-H 'name: value']... [--client IP] --offline [--config FILE] [--routes DIR] [--json]

Says which route takes a request and why, what goes upstream, which endpoint gets it and why the others do not, and what
happens when it fails. Nothing is sent to the service, and no turn of it is used up.

  METHOD URL          like GET http://shop.example.com/orders/17?x=1; or a path, with the host as -H 'Host: ...'
  -H 'name: value'    a header of the request; as often as needed
  --client IP         the address that the request comes from (127.0.0.1); a trusted proxy may name another
  --admin URL         the admin address of the gateway (${ADMIN_VARIABLE}, or ${DEFAULT_ADMIN})
  --offline           tells it from the files alone, which know no endpoints but those that they list
  --config FILE       with --offline: the gateway's file (${DEFAULT_CONFIG})
  --routes DIR        with --offline: the folder of the route files (what the gateway's file says)
  --json              prints the explanation as JSON
  --help              prints this

The token of the admin address is taken from ${TOKEN_VARIABLE}.
Exit code: 0 when it was explained, 1 when no gateway could be asked, 2 for bad usage or an invalid configuration.
`;

interface Question {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly client: string | null;
}

type Options = Exclude<ReturnType<typeof readOptions>, string>;

/** Runs `weir explain` with the arguments after the command's name; resolves with the exit code. */
export async function explain(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') return misused(options);
  if (options.help) {
    process.stderr.write(USAGE);
    return 0;
  }
  const question = questionOf(options);
  if (typeof question === 'string') return misused(question);
  return options.offline ? explainOffline(question, options) : explainLive(question, options);
}

function readOptions(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        header: { type: 'string', short: 'H', multiple: true, default: [] },
        client: { type: 'string' },
        admin: { type: 'string' },
        offline: { type: 'boolean', default: false },
        config: { type: 'string' },
        routes: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.offline && values.admin !== undefined) return '--admin has no effect with --offline';
    if (!values.offline && (values.config ?? values.routes) !== undefined) {
      return '--config and --routes have an effect with --offline only';
    }
    return { ...values, positionals };
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

function questionOf({ positionals, header, client }: Options): Question | string {
  const [method, url, ...more] = positionals;
  if (method === undefined || url === undefined)
    return 'a method and a URL are needed, like GET http://shop.example.com/';
  if (more.length > 0) return `too many arguments: ${more.join(' ')}`;
  return { method, url, headers: header, client: client ?? null };
}

async function explainLive(question: Question, { admin, json }: Options): Promise<number> {
  const place = adminPlace(admin, process.env);
  if (typeof place === 'string') return misused(place);
  const parameters = new URLSearchParams({ method: question.method, url: question.url });
  for (const header of question.headers) parameters.append('header', header);
  if (question.client !== null) parameters.set('client', question.client);
  const accept = json ? 'application/json' : 'text/plain';
  const reply = await askAdmin(place, { target: `/debug/explain?${parameters}`, accept });
  switch (reply.kind) {
    case 'document':
      await write(json ? printableJson(reply.text) : printableLines(reply.text));
      return 0;
    case 'misasked':
      return misasked(reply.why);
    case 'away':
      process.stderr.write(`weir explain: ${printable(reply.why)}; --offline tells what the files say\n`);
      return 1;
    case 'refused':
      process.stderr.write(`weir explain: ${printable(reply.why)}\n`);
      return 1;
  }
}

async function explainOffline(question: Question, { config = DEFAULT_CONFIG, routes, json }: Options): Promise<number> {
  const loaded = await loadChecked({ config, ...(routes !== undefined && { routes }), json, help: false });
  if (!loaded.ok) {
    process.stderr.write(loaded.problems.map((problem) => `${formatProblem(problem)}\n`).join(''));
    return 2;
  }
  const explanation = explainRequest(question, await offlineFacts(loaded));
  if (typeof explanation === 'string') return misasked(explanation);
  await write(json ? printableJson(`${JSON.stringify(explanation, null, 2)}\n`) : explanationText(explanation));
  return 0;
}

function misused(why: string): number {
  process.stderr.write(`weir explain: ${printable(why)}\n\n${USAGE}`);
  return 2;
}

/** The question makes no sense; how it is asked is known. */
function misasked(why: string): number {
  process.stderr.write(`weir explain: ${printable(why)}\n`);
  return 2;
}
