// The documents for people: what they show as configuration is valid, and what they point to is there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keysAt, routeJsonSchema } from '../../gateway/config/json-schema.ts';
import { findConflicts } from '../../gateway/routing/conflicts.ts';
import { checkGateway, checkRoute, problemLines, valid } from './config/checking.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'config/REFERENCE.md', ...namesIn('docs', '.md')];
const EXAMPLES = {
  gateways: namesIn('examples/compose/config', '.yaml'),
  routes: namesIn('examples/compose/routes', '.yaml'),
};

const ROUTE_KEYS: ReadonlySet<string> = new Set(keysAt(routeJsonSchema, []));

const blocks = DOCUMENTS.flatMap((name) => yamlBlocks(name));

describe('the documents', () => {
  it.each(blocks)('$name:$line shows valid YAML', ({ text }) => {
    expect(problemLines(isRoute(text) ? checkRoute(asWholeRoute(text)) : checkGateway(text))).toEqual([]);
  });

  it('are looked through for YAML', () => {
    expect(blocks.filter(({ name }) => name === 'docs/MIGRATING.md').length).toBeGreaterThan(5);
  });

  it.each(DOCUMENTS)('%s points only to files that there are', (name) => {
    const links = [...read(name).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path);
    expect(links.filter((path) => !existsSync(resolve(ROOT, dirname(name), path)))).toEqual([]);
  });
});

describe('the examples', () => {
  it.each(EXAMPLES.gateways)('%s is valid', (name) => {
    expect(problemLines(checkGateway(read(name)))).toEqual([]);
  });

  it('have valid routes that do not tie', () => {
    const routes = EXAMPLES.routes.map((file) => ({
      ...valid(checkRoute(read(file))),
      name: file,
      file,
      source: 'consul' as const,
    }));
    expect(routes.length).toBeGreaterThan(0);
    expect(findConflicts(routes)).toEqual([]);
  });
});

function namesIn(folder: string, extension: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(extension))
    .map((name) => `${folder}/${name}`);
}

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

/** The fenced YAML blocks of a document, without the indentation of the fence. */
function yamlBlocks(name: string): { name: string; line: number; text: string }[] {
  const document = read(name);
  return [...document.matchAll(/^( *)```yaml\n(.*?)^ *```$/gms)].map(({ 1: indent = '', 2: text = '', index }) => ({
    name,
    line: document.slice(0, index).split('\n').length + 1,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Whether all outermost keys of the text are those of a route. */
function isRoute(text: string): boolean {
  return outerKeys(text).every((key) => ROUTE_KEYS.has(key));
}

/** A part of a route, as it is shown where one policy is spoken of, needs its service. */
function asWholeRoute(text: string): string {
  return outerKeys(text).includes('service') ? text : `${text}\nservice: example\n`;
}

function outerKeys(text: string): string[] {
  return [...text.matchAll(/^(\w+):/gm)].map(([, key = '']) => key);
}
