// Connections over TLS with a CA and a client certificate from files, which are read anew for every connection.
import { readFile } from 'node:fs/promises';
import { buildConnector } from 'undici';

/** Paths of files in PEM; '' for none. */
export interface TlsFiles {
  /** The authorities that may have signed the server's certificate; '' = those that Node knows. */
  readonly ca: string;
  /** The client's certificate, with the ones between it and its authority. */
  readonly cert: string;
  readonly key: string;
}

/**
 * A connector for undici. Certificates that were replaced on disk are used by the next connection, and a file that
 * cannot be read is an error of that connection alone: the next one tries again.
 */
export function createTlsConnector(files: TlsFiles, timeoutMs: number): buildConnector.connector {
  let contents: readonly (string | undefined)[] = [];
  let connect: buildConnector.connector | undefined;

  async function current(): Promise<buildConnector.connector> {
    const read = await Promise.all([files.ca, files.cert, files.key].map(readPem));
    // One connector for the same files: it also keeps the sessions that later connections resume.
    if (connect !== undefined && read.every((content, at) => content === contents[at])) return connect;
    const [ca, cert, key] = read;
    contents = read;
    connect = buildConnector({
      allowH2: false,
      timeout: timeoutMs,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    });
    return connect;
  }

  return (options, callback) => {
    current().then(
      (connectNow) => connectNow(options, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

async function readPem(path: string): Promise<string | undefined> {
  return path === '' ? undefined : readFile(path, 'utf8');
}
