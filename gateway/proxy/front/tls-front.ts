// TLS in front of a listener: raw connections become secure ones, with the certificates that are in force.
import { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { TlsConfig } from '../../config/listener-schema.ts';
import type { HandshakeFailure, TlsCell } from '../../shared/tls-cell.ts';
import { type CertificateContexts, createContexts } from '../../tls/certificate-contexts.ts';
import type { ListenerMaterial } from '../../tls/served-certificate.ts';
import { contextOptions } from '../../tls/server-policy.ts';
import type { ClientPeer } from '../client-address.ts';
import { Opening } from '../opening/opening.ts';
import type { Sweep } from '../sweep.ts';
import { identityLines } from './client-identity.ts';
import type { HostedConnection } from './connection-host.ts';
import { Handshake, type HandshakeHost } from './handshake.ts';
import { handshakeFailureOf } from './handshake-failure.ts';

export interface TlsFrontOptions {
  readonly config: TlsConfig;
  /** Whether HTTP/2 is offered. */
  readonly hasHttp2: boolean;
  readonly material: ListenerMaterial;
  readonly ticketKeys: Uint8Array;
  /** From the accept to the end of the handshake. */
  readonly handshakeMs: number;
  readonly sweep: Sweep;
  readonly counts: TlsCell;
  /** The client has begun with TLS: the opening of its connection goes on as this. */
  readonly onHandshake: (handshake: HostedConnection) => void;
  /** The connection is secure; the peer's certificate is known. */
  readonly onSecure: (socket: TLSSocket, peer: ClientPeer) => void;
  /** The answer to a client that speaks plain HTTP. */
  readonly answerPlain: (peer: ClientPeer) => Buffer;
  readonly onFailed: (peer: ClientPeer, reason: HandshakeFailure, code: string) => void;
  /** An opening or a handshake is over, for good or bad. */
  readonly onEnded: (connection: HostedConnection) => void;
}

/** The content type of a TLS record that a handshake begins with (RFC 8446 section 5.1). */
const HANDSHAKE = 0x16;

/** What is spoken behind TLS, the best first (RFC 7301). */
const HTTP1 = ['http/1.1', 'http/1.0'];

export class TlsFront implements HandshakeHost {
  readonly sweep: Sweep;
  readonly #options: TlsFrontOptions;
  readonly #server: Server;
  readonly #handshakes = new WeakMap<Socket, Handshake>();
  #contexts: CertificateContexts;

  constructor(options: TlsFrontOptions) {
    const { config, material, ticketKeys, hasHttp2 } = options;
    this.#options = options;
    this.sweep = options.sweep;
    this.#contexts = createContexts(material, contextOptions(config, material, ticketKeys));
    this.#server = createServer({
      ...this.#contexts.byDefault,
      ALPNProtocols: hasHttp2 ? ['h2', ...HTTP1] : HTTP1,
      requestCert: config.clientCertificates !== 'off',
      rejectUnauthorized: config.clientCertificates === 'require',
      // The sweep keeps the time, from the accept on.
      handshakeTimeout: options.handshakeMs + 1000,
      SNICallback: (servername, callback) => callback(null, this.#contexts.contextFor(servername)),
    });
    this.#server.on('secureConnection', (socket) => this.#secured(socket));
    this.#server.on('tlsClientError', (error, socket) => this.#failed(error, socket));
    this.#server.on('OCSPRequest', (certificate: Buffer, _issuer: Buffer, callback) => {
      callback(null, this.#contexts.responseFor(certificate));
    });
  }

  /** Puts other certificates, or keys of tickets, in force: connections that stand are not touched. */
  replace(material: ListenerMaterial, ticketKeys: Uint8Array): void {
    this.#contexts = createContexts(material, contextOptions(this.#options.config, material, ticketKeys));
    this.#server.setSecureContext(this.#contexts.byDefault);
  }

  /** Takes over a connection that was accepted: its first octet tells TLS from plain HTTP. */
  accept(raw: Socket, peer: ClientPeer): HostedConnection {
    const { sweep, handshakeMs, onEnded } = this.#options;
    return new Opening({
      socket: raw,
      sweep,
      withinMs: handshakeMs,
      onOctets: (opening, octets) => {
        if (octets[0] === HANDSHAKE) opening.pass(0, () => this.#begin(raw, peer, opening.untilMs));
        else this.#refusePlain(opening, octets, peer);
      },
      onLate: (opening) => {
        this.onFailed(peer, 'timeout', '');
        opening.refuse(null);
      },
      onLeft: () => this.onFailed(peer, 'closed', ''),
      onEnded,
    });
  }

  onFailed(peer: ClientPeer, reason: HandshakeFailure, code: string): void {
    this.#options.counts.countFailure(reason);
    this.#options.onFailed(peer, reason, code);
  }

  onEnded(handshake: Handshake): void {
    this.#options.onEnded(handshake);
  }

  #begin(raw: Socket, peer: ClientPeer, untilMs: number): void {
    const handshake = new Handshake({ raw, peer, host: this, untilMs });
    this.#handshakes.set(raw, handshake);
    this.#options.onHandshake(handshake);
    this.#server.emit('connection', raw);
  }

  /** A method begins with a letter; to anything else there is nothing to say. */
  #refusePlain(opening: Opening, octets: Buffer, peer: ClientPeer): void {
    const isHttp = /^[A-Za-z]/.test(octets.toString('latin1', 0, 1));
    this.onFailed(peer, isHttp ? 'plain_http' : 'protocol', '');
    opening.refuse(isHttp ? this.#options.answerPlain(peer) : null);
  }

  #secured(socket: TLSSocket): void {
    const raw = rawOf(socket);
    const handshake = raw === undefined ? undefined : this.#handshakes.get(raw);
    if (raw === undefined || handshake === undefined) {
      socket.destroy();
      return;
    }
    const { config, counts, onSecure } = this.#options;
    counts.countHandshake(socket.getProtocol() === 'TLSv1.3' ? '1.3' : '1.2', socket.isSessionReused());
    // A reset is a matter of TCP: a TLSSocket throws.
    socket.resetAndDestroy = () => {
      raw.resetAndDestroy();
      return socket;
    };
    const { peer } = handshake;
    onSecure(socket, config.clientCertificates === 'off' ? peer : { ...peer, identityLines: identityOf(socket) });
    handshake.end();
  }

  #failed(error: Error, socket: TLSSocket): void {
    const raw = rawOf(socket);
    const handshake = raw === undefined ? undefined : this.#handshakes.get(raw);
    const code = 'code' in error ? String(error.code) : '';
    // Null where there was nothing to object to, whatever the types say.
    const hasBadCertificate = Boolean(socket.authorizationError);
    handshake?.failed(
      handshakeFailureOf(code, hasBadCertificate),
      hasBadCertificate ? String(socket.authorizationError) : code,
    );
  }
}

/** The lines of a certificate that is trusted; any other one is as none. */
function identityOf(socket: TLSSocket): string {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? '' : identityLines(certificate);
}

/** The connection below TLS, which a tls.Server gives to nobody but its own. */
function rawOf(socket: TLSSocket): Socket | undefined {
  const parent = '_parent' in socket ? socket._parent : undefined;
  return parent instanceof Socket ? parent : undefined;
}
