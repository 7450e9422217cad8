// testssl.sh at one listener: its grade, where its version gives one, and every finding that is not good news.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled } from './process.ts';
import { runTool } from './tool.ts';

export interface TlsReport {
  /** Null where this version gives none. */
  readonly grade: string | null;
  /** About the listener. */
  readonly findings: readonly Finding[];
  /** About the certificate that the test has made, or about the tool itself. */
  readonly ofTheTest: readonly Finding[];
}

export interface Finding {
  readonly id: string;
  readonly severity: string;
  readonly finding: string;
}

const LIMIT_MS = 300_000;
const GOOD = ['OK', 'INFO', 'DEBUG'];
/**
 * A certificate of two days by an authority of the test, without revocation; no engine for GOST; and the resumption that
 * testssl.sh 3.0 tries with a connection that it closes before a ticket of TLS 1.3 can have come.
 */
const OF_THE_TEST =
  /^(cert_|overall_grade|grade_cap|engine_problem|sessionresumption_ticket|security_headers|scanTime)/;

/** The name of the command; undefined where it is not installed. */
export function findTestssl(): string | undefined {
  return ['testssl', 'testssl.sh'].find(isInstalled);
}

export async function inspectTls(command: string, url: string, caFile: string): Promise<TlsReport> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-testssl-'));
  const file = join(folder, 'findings.json');
  try {
    const quiet = ['--quiet', '--color', '0', '--nodns', 'none', '--warnings', 'batch'];
    const { code, text } = await runTool(command, [...quiet, '--add-ca', caFile, '--jsonfile', file, url], LIMIT_MS);
    const all = readFindings(file);
    if (all.length === 0) throw new Error(`${command} ended with ${code}: ${text.slice(-500)}`);
    const bad = all.filter(({ severity }) => !GOOD.includes(severity));
    return {
      grade: all.find(({ id }) => id === 'overall_grade')?.finding ?? null,
      findings: bad.filter(({ id }) => !OF_THE_TEST.test(id)),
      ofTheTest: bad.filter(({ id }) => OF_THE_TEST.test(id)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Version 3.0 forgets a comma now and then: so each object is read by itself. */
function readFindings(file: string): Finding[] {
  const objects = readFileSync(file, 'utf8').match(/\{[^{}]*\}/g) ?? [];
  return objects.flatMap((text) => {
    try {
      const { id, severity, finding }: Record<string, unknown> = JSON.parse(text);
      return [{ id: String(id), severity: String(severity), finding: String(finding) }];
    } catch {
      return [{ id: 'unreadable', severity: 'WARN', finding: text.slice(0, 100) }];
    }
  });
}
