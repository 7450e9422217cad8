// Writes the JSON Schemas of the configuration files into config/, where editors find them.
import { writeFile } from 'node:fs/promises';
import { gatewayJsonSchema, routeJsonSchema } from '../gateway/config/json-schema.ts';

const schemas = { gateway: gatewayJsonSchema, route: routeJsonSchema };

for (const [kind, schema] of Object.entries(schemas)) {
  const file = new URL(`../config/${kind}.schema.json`, import.meta.url);
  await writeFile(file, `${JSON.stringify(schema, null, 2)}\n`);
}
