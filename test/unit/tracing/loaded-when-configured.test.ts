// Without tracing nothing of it is loaded: neither the room nor the SDK stands in what the roots import by themselves.
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEWAY = resolve(import.meta.dirname, '../../../gateway');

/** What is loaded with a file: `import type` is erased, `import()` comes later if at all. */
function loadedWith(root: string): { readonly files: string[]; readonly packages: string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from\s'([^']+)'/gm);
    for (const [, target = ''] of imports) {
      if (target.startsWith('.')) visit(resolve(dirname(file), target));
      else packages.add(target);
    }
  };
  visit(resolve(GATEWAY, root));
  return { files: [...files].map((file) => relative(GATEWAY, file)), packages: [...packages] };
}

describe('tracing', () => {
  it.each(['worker.ts', 'supervisor.ts', 'cli.ts', 'client.ts'])('is not loaded with %s', (root) => {
    const { files, packages } = loadedWith(root);
    expect(files.filter((file) => file.startsWith('tracing/'))).toEqual([]);
    expect(packages.filter((name) => name.startsWith('@opentelemetry/'))).toEqual([]);
  });

  it('would be seen: it is what its own root loads', () => {
    const { files, packages } = loadedWith('tracing/otlp-tracer.ts');
    expect(files).toContain('tracing/span-export.ts');
    expect(packages).toContain('@opentelemetry/exporter-trace-otlp-http');
    expect(loadedWith('worker.ts').packages).toContain('undici');
  });
});
