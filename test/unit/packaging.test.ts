// The image and the compose example: what cannot be built here can at least be read.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = resolve(import.meta.dirname, '../..');

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
}

const read = (name: string): string => readFileSync(resolve(ROOT, name), 'utf8');
const { version }: { version: string } = JSON.parse(read('package.json'));
const dockerfile = read('Dockerfile');

/** Words after an instruction, of every line that has it; lines that go on are one. */
function instructions(name: string): string[][] {
  const lines = dockerfile.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.split(/\s+/).slice(1));
}

describe('the image', () => {
  it('says the version of the package', () => {
    expect(instructions('ARG')).toContainEqual([`VERSION=${version}`]);
  });

  it('is built from files that there are, and that .dockerignore lets in', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const sources = instructions('COPY')
      .filter(([first]) => !first?.startsWith('--'))
      .flatMap((words) => words.slice(0, -1));
    expect(sources.length).toBeGreaterThan(4);
    for (const source of sources) {
      expect([source, existsSync(resolve(ROOT, source))]).toEqual([source, true]);
      expect(allowed).toContain(`!${source}`);
    }
  });

  it('runs as a user who is not root, by number, so that Kubernetes can see it', () => {
    expect(instructions('USER')).toEqual([['1000:1000']]);
  });

  it('writes to a volume only, and is stopped as the gateway wants it', () => {
    expect(instructions('VOLUME')).toEqual([['/app/data']]);
    expect(instructions('STOPSIGNAL')).toEqual([['SIGTERM']]);
  });
});

describe('the compose example', () => {
  const { services }: { services: Record<string, Service> } = parse(read('examples/compose/compose.yaml'), {
    merge: true,
  });

  it('uses the image of this version', () => {
    const images = Object.values(services)
      .map(({ image }) => image)
      .filter((image) => image.startsWith('weir:'));
    expect(new Set(images)).toEqual(new Set([`weir:${version}`]));
  });

  it('mounts only what there is', () => {
    const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    const paths = mounted.filter((path) => path.startsWith('./'));
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) expect([path, existsSync(resolve(ROOT, 'examples/compose', path))]).toEqual([path, true]);
  });

  it('has instances that register themselves as the service of its route', () => {
    const { service }: { service: string } = parse(read('examples/compose/routes/hello.yaml'));
    const names = Object.values(services).flatMap(({ command = [] }) =>
      command[0] === 'register' ? [command[1]] : [],
    );
    expect(names).toEqual([`--name=${service}`, `--name=${service}`]);
  });
});
