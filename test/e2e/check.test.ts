// `weir check` and `weir schema` as a process: what is printed where, and the exit codes.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const CLI = fileURLToPath(new URL('../../gateway/cli.ts', import.meta.url));

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'weir-check-'));
  mkdirSync(join(home, 'config'));
  mkdirSync(join(home, 'routes'));
  writeFileSync(join(home, 'config/gateway.yaml'), '');
});

afterEach(() => {
  rmSync(home, { recursive: true });
});

describe('weir check', () => {
  it('says on stderr that all is valid, and exits 0', () => {
    writeFileSync(join(home, 'routes/a.yaml'), 'service: a');
    expect(weir('check')).toEqual({ status: 0, stdout: '', stderr: 'config/gateway.yaml and 1 route are valid\n' });
  });

  it('finds the files of this repository valid', () => {
    const root = fileURLToPath(new URL('../../', import.meta.url));
    expect(weir('check', '--config', join(root, 'config/gateway.yaml'), '--routes', join(root, 'routes')).status).toBe(
      0,
    );
  });

  it('warns when there is no route', () => {
    const { status, stderr } = weir('check');
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^warning: there is no route file in .*routes\n/)]);
  });

  it('prints every problem on stderr, one a line, and exits 2', () => {
    writeFileSync(join(home, 'config/gateway.yaml'), `workers: \${WORKERS}`);
    writeFileSync(join(home, 'routes/a.yaml'), 'service: a\nretrys: {}');
    expect(weir('check')).toEqual({
      status: 2,
      stdout: '',
      stderr: [
        'config/gateway.yaml:1:10 workers: the environment variable WORKERS is not set, ',
        `expected it to be set, or a default as in \${WORKERS:-default}\n`,
        'routes/a.yaml:2:1 retrys: unknown key, did you mean "retry"?\n',
      ].join(''),
    });
  });

  it('finds rules of two routes that tie', () => {
    for (const name of ['a', 'b']) {
      writeFileSync(join(home, `routes/${name}.yaml`), `service: ${name}\nmatch: [{ paths: [/x] }]`);
    }
    const { status, stderr } = weir('check');
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^routes\/b\.yaml:2:9 match\[0\]: ties with .*"a".*\n$/),
    ]);
  });

  it('takes other files', () => {
    mkdirSync(join(home, 'other'));
    writeFileSync(join(home, 'other/g.yaml'), 'x: 1');
    writeFileSync(join(home, 'other/r.yaml'), 'service: a');
    const { status, stderr } = weir('check', '--config', 'other/g.yaml', '--routes', 'routes');
    expect([status, stderr]).toEqual([2, 'other/g.yaml:1:1 x: unknown key\n']);
  });

  it('prints the problems as JSON on stdout', () => {
    writeFileSync(join(home, 'routes/a.yaml'), 'service: a\nretry: { on: [rest] }');
    const { status, stdout, stderr } = weir('check', '--json');
    expect([status, stderr]).toEqual([2, '']);
    expect(JSON.parse(stdout)).toEqual([
      {
        file: 'routes/a.yaml',
        line: 2,
        column: 15,
        key: 'retry.on[0]',
        message: 'unknown value',
        expected: 'connect, reset or timeout',
        suggestion: 'reset',
      },
    ]);
    rmSync(join(home, 'routes/a.yaml'));
    expect(JSON.parse(weir('check', '--json').stdout)).toEqual([]);
  });

  it.each([['--unknown'], ['extra'], ['--config']])('refuses %s with its usage, and exits 2', (argument) => {
    const { status, stdout, stderr } = weir('check', argument);
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining('usage: weir check')]);
  });

  it('answers --help', () => {
    const { status, stderr } = weir('check', '--help');
    expect([status, stderr]).toEqual([0, expect.stringContaining('--routes DIR')]);
  });
});

describe('weir schema', () => {
  it.each(['gateway', 'route'])('prints the JSON Schema of %s', (kind) => {
    const committed = readFileSync(new URL(`../../config/${kind}.schema.json`, import.meta.url), 'utf8');
    expect(weir('schema', kind)).toEqual({ status: 0, stdout: committed, stderr: '' });
  });

  it.each([[], ['routes'], ['gateway', 'route']])('refuses other arguments, and exits 2', (...args) => {
    const { status, stdout, stderr } = weir('schema', ...args);
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining('usage: weir schema')]);
  });

  it('answers --help', () => {
    expect(weir('schema', '--help')).toMatchObject({ status: 0, stderr: expect.stringContaining('usage') });
  });
});

function weir(...args: string[]) {
  const { WORKERS: _unset, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { cwd: home, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}
