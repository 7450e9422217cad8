// The reference of the configuration files: generated, committed, and complete.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { gatewayJsonSchema, routeJsonSchema } from '../../../gateway/config/json-schema.ts';
import { configurationReference } from '../../../scripts/reference.ts';

const reference = configurationReference();

describe('the configuration reference', () => {
  it('is committed as scripts/generate-reference.ts writes it', async () => {
    const file = new URL('../../../config/REFERENCE.md', import.meta.url);
    expect(await readFile(file, 'utf8')).toBe(reference);
  });

  it('has a row for every key that the JSON Schemas have, in the same order', () => {
    const rows = [...reference.matchAll(/^\| `(\w+)` \| /gm)].map(([, key]) => key);
    const sections = [...sectionsOf(gatewayJsonSchema), ...sectionsOf(routeJsonSchema)];
    expect(sections.length).toBeGreaterThan(25);
    expect(rows).toEqual(sections.flat());
  });

  it('tells of every key what it may be and what it means', () => {
    const rows = reference.split('\n').filter((line) => /^\| `/.test(line));
    expect(rows.filter((row) => !/^(?:\| [^|]+ ){4}\|$/.test(row))).toEqual([]);
  });

  it('leads to every section by one link', () => {
    const anchors = [...reference.matchAll(/^###? (.+)$/gm)].map(([, heading = '']) => {
      return heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-');
    });
    const links = [...reference.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor]) => anchor);
    expect(new Set(anchors).size).toBe(anchors.length);
    expect(links.toSorted()).toEqual(
      anchors.filter((anchor) => !['gatewayyaml', 'route-files'].includes(anchor)).toSorted(),
    );
  });

  it.each([
    ['a duration with its range', '| `wait` | a duration, 1s to 10m | `60s` |'],
    ['a quantity that may be off', '| `body` | a size, 0B to 1024GiB, or off | `10MiB` |'],
    ['alternatives', '| `breaker` | `off` or [breaker](#breaker) | `off` |'],
    [
      'items of a list with a range',
      '| `statuses` | a list of statuses, each a status from 500 to 599 | `[500, 502, 503, 504]` |',
    ],
    ['what must be there', '| `service` | a name of letters, digits, ".", "_" and "-", at most 128 | **required** |'],
    ['what may be absent', '| `port` | a whole number from 1 to 65535 | – |'],
  ])('writes %s', (_what, row) => {
    expect(reference).toContain(row);
  });
});

/** The keys of every section of a JSON Schema, outer ones first. */
function sectionsOf(part: unknown): string[][] {
  if (typeof part !== 'object' || part === null) return [];
  if (!('properties' in part && isMapping(part.properties))) return Object.values(part).flatMap(sectionsOf);
  return [Object.keys(part.properties), ...Object.values(part.properties).flatMap(sectionsOf)];
}

function isMapping(candidate: unknown): candidate is Record<string, unknown> {
  return typeof candidate === 'object' && candidate !== null;
}
