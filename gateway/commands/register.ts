// `weir register`: runs a command as a registered instance of a service.
import { systemClock } from '../core/clock.ts';
import { readRegisterArgs } from '../registration/register-args.ts';
import { leaveProcessOneToShell } from '../registration/register-init.ts';
import type { RegisterSecrets } from '../registration/register-options.ts';
import { runRegistered } from '../registration/register-run.ts';

const SYNOPSIS = 'usage: weir register --name NAME --port N [options] -- COMMAND [ARGUMENT]…\n';

const USAGE = `${SYNOPSIS}
Runs COMMAND as an instance of the service NAME: registers it once its port answers, keeps it registered while it is
well, and on SIGTERM, SIGINT or SIGQUIT takes it out of the registry first, waits, and only then passes the signal on.
A registry that is down is tried again and again; it never stops the command.

  --name NAME             the service
  --port N                the port of the instance
  --address A             its address (the one that this machine has on the way to the registry)
  --id ID                 its ID (NAME-HOST-PORT-RANDOM, another one at each start)
  --weight W              its share of the traffic, 0 to 65535 (1)
  --tag T                 a tag; may be repeated
  --meta KEY=VALUE        an entry of its meta; may be repeated

  --http PATH             it is well while GET PATH is answered 2xx; Consul's agent asks, every --interval, while for the
                          table registry this wrapper does
  --ttl T                 without --http: a heartbeat every third of T while the port accepts connections
  --interval T            how often it is checked or its heartbeat is sent (10s; at most 10s with the table registry)
  --deregister-after T    Consul forgets it when it was critical that long (60s; a minute at least)

  --drain T               the time between the deregistration and the signal to COMMAND (5s)
  --wait ADDRESS:PORT     where this wrapper asks whether COMMAND answers (the registered address and port)
  --registry URL          consul+http://…, consul+https://… (consul+http://127.0.0.1:8500), or http://…, https://… for
                          the table registry
  --help                  prints this

Environment: CONSUL_HTTP_TOKEN, the token for Consul; WEIR_REGISTRY_SECRET, the bearer token for the table registry.

A second signal ends the wait; SIGHUP, SIGUSR1, SIGUSR2 and SIGWINCH are passed on at once. When COMMAND ends, however it
does, it is deregistered at once. COMMAND has to stay in the foreground.

Exit code: COMMAND's own, 128 + n when signal n ended it; 2 bad usage; 126 COMMAND cannot be run; 127 it is not found.
`;

/** How long what is left over, such as a name that does not resolve, may hold the process after the end. */
const LINGER_MS = 200;

/** Runs `weir register` with the arguments after the command's name; resolves with the exit code. */
export async function register(args: string[]): Promise<number> {
  const parsed = readRegisterArgs(args);
  if (parsed.kind === 'help') {
    process.stderr.write(USAGE);
    return 0;
  }
  const secrets = readSecrets();
  const problems = [...(parsed.kind === 'bad' ? parsed.problems : []), ...secretFaults(secrets)];
  if (parsed.kind === 'bad' || problems.length > 0) {
    for (const problem of problems) say(problem);
    process.stderr.write(`\n${SYNOPSIS}       weir register --help\n`);
    return 2;
  }
  // Nobody may be there to read the messages; the command goes on all the same.
  process.stderr.on('error', () => undefined);
  leaveProcessOneToShell(say);
  for (const note of parsed.notes) say(note);
  const code = await runRegistered({ options: parsed.options, secrets, clock: systemClock, say });
  setTimeout(() => process.exit(), LINGER_MS).unref();
  return code;
}

function readSecrets(): RegisterSecrets {
  const { CONSUL_HTTP_TOKEN = '', WEIR_REGISTRY_SECRET = '' } = process.env;
  return { consulToken: CONSUL_HTTP_TOKEN.trim(), registrySecret: WEIR_REGISTRY_SECRET.trim() };
}

function secretFaults({ consulToken, registrySecret }: RegisterSecrets): string[] {
  const isSendable = (secret: string) => /^[\x21-\x7e]*$/.test(secret);
  return [
    ...(isSendable(consulToken) ? [] : ['CONSUL_HTTP_TOKEN has characters that a header field cannot carry']),
    ...(isSendable(registrySecret) ? [] : ['WEIR_REGISTRY_SECRET has characters that a header field cannot carry']),
  ];
}

function say(message: string): void {
  process.stderr.write(`weir register: ${message}\n`);
}
