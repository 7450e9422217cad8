// Whether the certificate files that listeners name can be used, found out before anything starts.
import { type FileFault, listPairs, readAuthorities, readCertificate } from '../tls/certificate-files.ts';
import { materialKey, type PairFiles } from '../tls/served-certificate.ts';
import type { ConfigDocument } from './document.ts';
import type { GatewayConfig } from './gateway-schema.ts';
import type { TlsConfig } from './listener-schema.ts';
import type { Path, Problem } from './problem.ts';

type Listen = GatewayConfig['listen'];

/**
 * A problem for each file of a listener's certificates that cannot be used. Files that `inForce` names already have an
 * earlier version that goes on serving: what becomes of them is no matter of this file.
 */
export async function listenerFileProblems(
  listen: Listen,
  document: ConfigDocument,
  inForce: Listen = [],
): Promise<Problem[]> {
  const known = new Set(inForce.flatMap(({ tls }) => (tls === null ? [] : [materialKey(tls)])));
  const problems = listen.map(async ({ tls }, at) => {
    return tls === null || known.has(materialKey(tls)) ? [] : filesProblems(tls, ['listen', at, 'tls'], document);
  });
  return (await Promise.all(problems)).flat();
}

async function filesProblems({ certificates, clientCa }: TlsConfig, path: Path, document: ConfigDocument) {
  const at = [...path, 'certificates'];
  const problems: Problem[] = [];
  const add = (place: Path, { message, expected }: Pick<FileFault, 'message' | 'expected'>): void => {
    problems.push(document.problemAt(place, 'value', { message, ...(expected !== undefined && { expected }) }));
  };
  const pairs = await listPairs(certificates);
  if ('part' in pairs) add(at, pairs);
  else {
    const read = await Promise.all(pairs.map(readCertificate));
    for (const [index, result] of read.entries()) {
      for (const fault of 'faults' in result ? result.faults : []) {
        if (typeof certificates !== 'string') add([...at, index, fault.part], fault);
        else add(at, { ...fault, message: `${fileOf(result.files, fault.part)}: ${fault.message}` });
      }
    }
  }
  const authorities = clientCa === '' ? { pem: '' } : await readAuthorities(clientCa);
  if (typeof authorities === 'string') {
    add([...path, 'clientCa'], { message: authorities, expected: 'a file with a certificate in PEM' });
  }
  return problems;
}

function fileOf(files: PairFiles, part: FileFault['part']): string {
  return part === 'folder' ? '' : files[part];
}
