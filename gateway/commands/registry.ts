// `weir registry`: runs the table registry alone until a signal ends it.
import { parseArgs } from 'node:util';
import { type Environment, substitute } from '../config/environment.ts';
import { parseStoreUrl, STORE_URL } from '../config/store-url.ts';
import { isLoopback, parseAddress } from '../core/address.ts';
import { type RegistryOptions, startRegistry } from '../registration/registry-server.ts';
import { BackgroundOutput } from '../telemetry/log-output.ts';
import { createLogger } from '../telemetry/logger.ts';
import { untilSignal } from './until-signal.ts';

const LISTEN = '127.0.0.1:8510';
const STORE = 'sqlite:data/registry.db';
const SECRET_VARIABLE = 'WEIR_REGISTRY_SECRET';

const USAGE = `usage: weir registry [--listen ADDR] [--store URL] [--secret-env NAME]

Runs the table registry: POST and DELETE /register, GET /instances?service=NAME, GET /history. SIGTERM or SIGINT lets
what is under way end; a second signal ends at once.

  --listen ADDR       where it answers (${LISTEN}); other than loopback needs a secret
  --store URL         where it keeps its table (${STORE}), or mysql://USER:PASSWORD@HOST[:PORT]/DATABASE;
                      \${NAME} is replaced by a variable of the environment, percent-encoded where a URL needs it
  --secret-env NAME   the variable with the secret that writers must send as bearer token (${SECRET_VARIABLE});
                      not set or empty: everybody may write
  --help              prints this

Several registries may share one MySQL or MariaDB database. While it is down they answer 503.
Exit code: 0 after a signal, 1 when it could not start, 2 for bad usage.
`;

type ServedRegistry = Pick<RegistryOptions, 'host' | 'port' | 'store' | 'secret'>;

/** Runs `weir registry` with the arguments after the command's name; resolves with the exit code when it ends. */
export async function registry(args: string[]): Promise<number> {
  const options = readOptions(args, process.env);
  if (options === 'help') {
    process.stderr.write(USAGE);
    return 0;
  }
  if (typeof options === 'string') {
    process.stderr.write(`weir registry: ${options}\n\n${USAGE}`);
    return 2;
  }
  const output = new BackgroundOutput({ file: '', format: 'json' });
  const log = createLogger({ level: 'info', output });
  try {
    const signalled = untilSignal();
    const running = await startRegistry({ ...options, log });
    await signalled;
    log.info({}, 'stopping: what is under way may end');
    await running.stop();
    return 0;
  } finally {
    output.flushSync();
  }
}

/** What to run; `help`, or a sentence that says what is wrong, when there is nothing to run. It tells no password. */
function readOptions(args: string[], environment: Environment): ServedRegistry | string {
  const words = readWords(args);
  if (typeof words === 'string') return words;
  const address = parseAddress(words.listen);
  if (address === undefined) return `--listen must be an address like ${LISTEN}`;
  const written = substitute(words.store, environment);
  if (!written.ok) return `--store: ${written.message}, expected ${written.expected}`;
  const store = parseStoreUrl(written.text);
  if (store === undefined) return `--store must be ${STORE_URL}`;
  const variable = words['secret-env'] ?? SECRET_VARIABLE;
  const secret = environment[variable] ?? '';
  if (words['secret-env'] !== undefined && secret === '') return `the environment variable ${variable} is not set`;
  if (!/^[\x21-\x7e]*$/.test(secret)) return `${variable} must be visible ASCII characters without spaces`;
  if (secret === '' && !isLoopback(address.host)) {
    return `${words.listen} is not a loopback address: set ${variable}, else anybody there could register instances`;
  }
  return { ...address, store, secret };
}

function readWords(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        listen: { type: 'string', default: LISTEN },
        store: { type: 'string', default: STORE },
        'secret-env': { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values.help ? 'help' : values;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}
