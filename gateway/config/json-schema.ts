// The JSON Schemas for editors, and what they tell about the keys at a path.
import { z } from 'zod';
import { notYet } from './fields.ts';
import { gatewaySchema } from './gateway-schema.ts';
import type { Path } from './problem.ts';
import { routeSchema } from './route-schema.ts';

/** A JSON Schema (draft 2020-12) or a part of one. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The JSON Schema of gateway.yaml. */
export const gatewayJsonSchema = toJsonSchema(gatewaySchema, 'Weir: gateway.yaml');

/** The JSON Schema of a route file. */
export const routeJsonSchema = toJsonSchema(routeSchema, 'Weir: a route file');

/** The parts of `schema` that describe the value at `path`: several where there are alternatives, none if unknown. */
export function partsAt(schema: JsonSchema, path: Path): JsonSchema[] {
  return path.reduce<JsonSchema[]>(
    (parts, step) => parts.flatMap((part) => alternatives(childrenOf(part, step))),
    alternatives([schema]),
  );
}

/** The keys that a mapping at `path` may have. */
export function keysAt(schema: JsonSchema, path: Path): string[] {
  return partsAt(schema, path).flatMap(({ properties = {} }) => Object.keys(properties));
}

/** Every path of mapping keys in the schema that ends with `key`; lists are not entered. */
export function pathsTo(schema: JsonSchema, key: string): Path[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const deeper = isSchema(child) ? pathsTo(child, key).map((path) => [name, ...path]) : [];
    return name === key ? [[name], ...deeper] : deeper;
  });
}

function toJsonSchema(schema: z.ZodType, title: string): JsonSchema {
  return {
    title,
    ...z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        if (!(zodSchema instanceof z.ZodObject)) return;
        for (const [key, field] of Object.entries(zodSchema.shape)) {
          if (field === notYet) delete jsonSchema.properties?.[key];
        }
      },
    }),
  };
}

function childrenOf(part: JsonSchema, step: string | number): JsonSchema[] {
  if (typeof step === 'number') return [part.items].flat().filter(isSchema);
  const own = Object.hasOwn(part.properties ?? {}, step) ? part.properties?.[step] : undefined;
  return [own ?? part.additionalProperties].filter(isSchema);
}

function alternatives(parts: readonly JsonSchema[]): JsonSchema[] {
  return parts.flatMap((part) => [part, ...alternatives((part.anyOf ?? []).filter(isSchema))]);
}

function isSchema(candidate: unknown): candidate is JsonSchema {
  return typeof candidate === 'object' && candidate !== null;
}
