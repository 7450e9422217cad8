// The JSON Schemas for editors: generated, committed, and true.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { gatewayJsonSchema, keysAt, pathsTo, routeJsonSchema } from '../../../gateway/config/json-schema.ts';

describe('the committed JSON Schemas', () => {
  it.each([
    ['gateway', gatewayJsonSchema],
    ['route', routeJsonSchema],
  ])('%s.schema.json is what scripts/generate-schemas.ts writes', async (kind, schema) => {
    const file = new URL(`../../../config/${kind}.schema.json`, import.meta.url);
    expect(await readFile(file, 'utf8')).toBe(`${JSON.stringify(schema, null, 2)}\n`);
  });
});

describe('a JSON Schema', () => {
  it('documents every key, and refuses others', () => {
    for (const schema of [gatewayJsonSchema, routeJsonSchema]) {
      const sections = sectionsOf(schema);
      expect(sections.length).toBeGreaterThan(8);
      for (const { properties, additionalProperties } of sections) {
        expect(additionalProperties).toBe(false);
        for (const [key, property] of Object.entries(properties))
          expect([key, property.description]).not.toContain(undefined);
      }
    }
  });

  it('knows the keys at a path, also where there are alternatives', () => {
    expect(keysAt(routeJsonSchema, ['concurrency'])).toEqual(['max', 'queue', 'queueTimeout']);
    expect(keysAt(routeJsonSchema, ['breaker'])).toContain('probes');
    expect(keysAt(routeJsonSchema, ['endpoints', 3])).toEqual(['address', 'weight', 'tags', 'meta']);
    expect(keysAt(routeJsonSchema, ['nothing', 'toString'])).toEqual([]);
  });

  it('finds the paths to a key', () => {
    expect(pathsTo(routeJsonSchema, 'statuses')).toEqual([
      ['retry', 'statuses'],
      ['ejection', 'statuses'],
    ]);
  });
});

interface Section {
  properties: Record<string, { description?: string }>;
  additionalProperties: unknown;
}

/** Every part of a JSON Schema that has properties. */
function sectionsOf(part: unknown): Section[] {
  if (typeof part !== 'object' || part === null) return [];
  const deeper = Object.values(part).flatMap(sectionsOf);
  return isSection(part) ? [part, ...deeper] : deeper;
}

function isSection(part: object): part is Section {
  return 'properties' in part && 'type' in part && part.type === 'object';
}
