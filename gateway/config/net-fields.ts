// Fields that name hosts: addresses, origins, networks, host patterns.
import { isIP } from 'node:net';
import { type Address, formatAddress, isHost, parseAddress } from '../core/address.ts';
import { LATER, text } from './fields.ts';

/** An address to listen on. */
export const listenAddress = text('an address like 127.0.0.1:8080 or "[::1]:8080"', parseAddress);

/** The address of an endpoint: plain HTTP, no URL. */
export const endpointAddress = text('an address like 10.0.0.5:8080 or "[fd00::5]:8080"', (written) => {
  return isHttps(written) ? LATER : parseAddress(written);
});

/** An origin like `http://127.0.0.1:8500` or `https://127.0.0.1:8501`, as text without a final `/`. */
export const webOrigin = text('a URL like http://127.0.0.1:8500, without path', (written) => {
  return parseOrigin(written, /^https?$/i)?.origin;
});

/** An origin like `http://127.0.0.1:8000`, as the address it stands for. */
export const originAddress = text('a URL like http://127.0.0.1:8000, without path', (written) => {
  return isHttps(written) ? LATER : addressOf(parseOrigin(written));
});

/** A network like `10.0.0.0/8`; a lone IP address becomes the network of that one address. */
export const network = text('a network like 10.0.0.0/8 or fd00::/8', (written): string | undefined => {
  const [, ip = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(written) ?? [];
  const family = isIP(ip);
  const most = family === 6 ? 128 : 32;
  return family !== 0 && Number(bits ?? most) <= most ? `${ip}/${bits ?? most}` : undefined;
});

/**
 * A host of a match rule: a name, an IP address or `*.name`; comes out as a Host field has it, in lower case without
 * final dot and port, IPv6 in brackets.
 */
export const hostPattern = text('a host like shop.example.com or *.example.com, without port', (written) => {
  const lower = written.toLowerCase().replace(/\.$/, '');
  if (lower.startsWith('*.')) {
    const parent = lower.slice(2);
    return isHost(parent) && isIP(parent) === 0 ? lower : undefined;
  }
  const host = lower.replace(/^\[(.*:.*)\]$/, '$1');
  if (!isHost(host)) return undefined;
  return isIP(host) === 6 ? `[${host}]` : host;
});

/** The address of a DNS resolver, as `ip:port` (port 53 where none is written); empty for those of the system. */
export const resolverAddress = text('an IP address like 127.0.0.1:8600, or ""', (written) => {
  if (written === '') return '';
  const ip = written.replace(/^\[(.*)\]$/, '$1');
  const address = isIP(ip) === 0 ? parseAddress(written) : { host: ip, port: 53 };
  return address !== undefined && isIP(address.host) !== 0 ? formatAddress(address.host, address.port) : undefined;
});

/** A DNS name with `{service}` where the service's own name goes. */
export const dnsTemplate = text('a DNS name with {service} in it, like {service}.service.consul', (written) => {
  const example = written.replaceAll('{service}', 'x');
  return written !== example && isHost(example) && isIP(example) === 0 ? written : undefined;
});

/** A host with or without port, as it stands in a Host field. */
export function isHostField(written: string): boolean {
  if (parseAddress(written) !== undefined) return true;
  return /^\[.*\]$/.test(written) ? isIP(written.slice(1, -1)) === 6 : isHost(written) && isIP(written) !== 6;
}

function isHttps(written: string): boolean {
  return /^https:\/\//i.test(written);
}

/** The URL of an origin, in plain HTTP unless told otherwise: neither user, path, query nor fragment. */
function parseOrigin(written: string, schemes = /^http$/i): URL | undefined {
  const [, scheme = '', authority] = /^([a-z]+):\/\/([^/?#\\@\s]+)\/?$/i.exec(written) ?? [];
  const url = authority === undefined || !schemes.test(scheme) ? null : URL.parse(`${scheme}://${authority}`);
  return url !== null && isHost(url.hostname.replace(/^\[(.*)\]$/, '$1')) ? url : undefined;
}

function addressOf(url: URL | undefined): Address | undefined {
  if (url === undefined) return undefined;
  return parseAddress(url.port === '' ? `${url.hostname}:80` : url.host);
}
