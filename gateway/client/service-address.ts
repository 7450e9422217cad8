// Which service the origin of a request names, if any.
import { WeirError } from './weir-error.ts';

/** What of a service its address depends on. */
export interface Addressed {
  /** Its name as a host: in lower case. */
  readonly host: string;
  readonly protocol: 'http' | 'https';
}

/** The addresses of the services of one dispatcher. */
export class ServiceAddresses<S extends Addressed> {
  readonly #byOrigin: ReadonlyMap<string, S>;
  readonly #byHost: ReadonlyMap<string, S>;

  constructor(services: readonly S[]) {
    this.#byOrigin = new Map(services.map((service) => [`${service.protocol}://${service.host}`, service]));
    this.#byHost = new Map(services.map((service) => [service.host, service]));
  }

  /** The service of an origin like `http://order-service`; undefined for other hosts; an error where it has no sense. */
  find(origin: string | URL | undefined): S | WeirError | undefined {
    const text = typeof origin === 'string' ? origin : (origin?.origin ?? '');
    const known = this.#byOrigin.get(text);
    if (known !== undefined) return known;
    const scheme = text.indexOf('://');
    if (scheme === -1) return undefined;
    const from = scheme + 3;
    const slash = text.indexOf('/', from);
    const authority = text.slice(from, slash === -1 ? text.length : slash).toLowerCase();
    const colon = authority.indexOf(':');
    const service = this.#byHost.get(colon === -1 ? authority : authority.slice(0, colon));
    if (service === undefined) return undefined;
    return this.#check(service, text.slice(0, scheme).toLowerCase(), colon === -1 ? '' : authority.slice(colon + 1));
  }

  #check(service: S, scheme: string, port: string): S | WeirError {
    const { host, protocol } = service;
    if (scheme !== protocol) {
      const hint = `its address is ${protocol}://${host}/ (the option protocol says what its endpoints speak)`;
      return new WeirError('WEIR_BAD_ADDRESS', `${host} does not speak ${scheme}: ${hint}`);
    }
    if (port === '' || port === (protocol === 'http' ? '80' : '443')) return service;
    return new WeirError(
      'WEIR_BAD_ADDRESS',
      `${host}:${port} has a port, but the ports of ${host} come from discovery: its address is ${protocol}://${host}/`,
    );
  }
}
