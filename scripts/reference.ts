// The reference of the configuration files as Markdown, read out of their schemas: nothing is written down twice.
import { stringify } from 'yaml';
import { z } from 'zod';
import { notYet } from '../gateway/config/fields.ts';
import { gatewaySchema } from '../gateway/config/gateway-schema.ts';
import { routeSchema } from '../gateway/config/route-schema.ts';

type Schema = z.core.$ZodType;

/** A mapping with known keys, at its place in the file; a path of '' is the file itself. */
interface Section {
  readonly path: string;
  readonly description: string;
  readonly keys: readonly Key[];
}

interface Key {
  readonly path: string;
  readonly name: string;
  readonly schema: Schema;
}

const INTRODUCTION = `# Configuration reference

Every key of \`gateway.yaml\` and of the route files, written from the schemas that check them (\`npm run reference\`).

- A duration is a number with its unit: \`250ms\`, \`5s\`, \`2m\`, \`24h\`. So is a size: \`512B\`, \`16KiB\`, \`1MiB\`, \`2GiB\`. A bare
  number where a unit is needed is refused, and so is a key that is unknown, misspelt or given twice.
- \`\${NAME}\` and \`\${NAME:-default}\` within a text value are replaced from the environment.
- \`name[]\` is what each item of the list \`name\` may have. A default of "–" means that the key may be absent.
- Which keys do not go together, \`weir check\` tells.
`;

/** What no duration and no size may be: the refusal names the range. */
const OUT_OF_RANGE: readonly string[] = ['99999999h', '99999999GiB'];

/** The page as it is committed. */
export function configurationReference(): string {
  return [
    INTRODUCTION,
    page('gateway.yaml', 'The gateway as a process, `config/gateway.yaml`; every key is optional.', gatewaySchema),
    page('Route files', 'One file a service, `routes/*.yaml`; only `service` is required.', routeSchema),
  ].join('\n');
}

function page(title: string, lead: string, schema: Schema): string {
  const chapters = sectionsAt('', schema, lead).map((section) => {
    const heading = section.path === '' ? `## ${title}` : `### \`${section.path}\``;
    return `${heading}\n\n${escaped(section.description)}\n\n${table(section)}`;
  });
  return chapters.join('\n');
}

function table({ keys }: Section): string {
  const rows = keys.map(({ path, name, schema }) => {
    const cells = [code(name), valuesOf(schema, path), defaultOf(schema), escaped(descriptionOf(schema))];
    return `| ${cells.join(' | ')} |\n`;
  });
  return `| key | value | default | meaning |\n|---|---|---|---|\n${rows.join('')}`;
}

/** The section at `path`, then those within it, in the order of the schema; none where `schema` is no section. */
function sectionsAt(path: string, schema: Schema, description: string): Section[] {
  const bare = unwrapped(schema);
  if (bare instanceof z.ZodArray) return sectionsAt(`${path}[]`, bare.def.element, description);
  if (bare instanceof z.ZodUnion) return bare.def.options.flatMap((each) => sectionsAt(path, each, description));
  if (!(bare instanceof z.ZodObject)) return [];
  const keys = Object.entries(bare.def.shape).flatMap(([name, each]: [string, Schema]): Key[] => {
    return each === notYet ? [] : [{ path: path === '' ? name : `${path}.${name}`, name, schema: each }];
  });
  const deeper = keys.flatMap((key) => sectionsAt(key.path, key.schema, descriptionOf(key.schema)));
  return [{ path, description, keys }, ...deeper];
}

/** What the value at `path` may be. */
function valuesOf(schema: Schema, path: string): string {
  const bare = unwrapped(schema);
  const [section] = sectionsAt(path, schema, '');
  if (section !== undefined) {
    const link = `[${section.path}](#${anchor(section.path)})`;
    if (bare instanceof z.ZodArray) return `${expectedBy(schema)}: ${link}`;
    const others =
      bare instanceof z.ZodUnion ? bare.def.options.filter((each) => sectionsAt(path, each, '').length === 0) : [];
    return [...others.map((each) => valuesOf(each, path)), link].join(' or ');
  }
  if (bare instanceof z.ZodEnum) return bare.options.map(code).join(', ');
  if (bare instanceof z.ZodLiteral) return bare.def.values.map(code).join(', ');
  if (bare instanceof z.ZodArray && unwrapped(bare.def.element) instanceof z.ZodNumber) {
    return `${expectedBy(schema)}, each ${expectedBy(bare.def.element)}`;
  }
  const range = rangeOf(schema);
  return range === undefined ? expectedBy(schema) : expectedBy(schema).replace(/ like [^,]+/, `, ${range}`);
}

function defaultOf(schema: Schema): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const isSection = unwrapped(schema) instanceof z.ZodObject;
    return isSection ? 'of its keys' : code(stringify(schema.def.defaultValue, FLOW).trimEnd());
  }
  return schema instanceof z.ZodExactOptional ? '–' : '**required**';
}

const FLOW = { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 } as const;

function descriptionOf(schema: Schema): string {
  return z.globalRegistry.get(schema)?.description ?? '';
}

/** The schema of the value that is written, without what makes it optional and what is made of it. */
function unwrapped(schema: Schema): Schema {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.def.in);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return unwrapped(schema.def.innerType);
  return schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional
    ? unwrapped(schema.def.innerType)
    : schema;
}

/** What a schema says that it expects, when it is given what nobody can write. */
function expectedBy(schema: Schema): string {
  const [issue] = z.safeParse(schema, Symbol('nothing')).error?.issues ?? [];
  if (issue === undefined) throw new Error('a schema that takes everything');
  return escaped(issue.message);
}

/** The range of a quantity; undefined for what is none. */
function rangeOf(schema: Schema): string | undefined {
  for (const written of OUT_OF_RANGE) {
    const issue = z.safeParse(schema, written).error?.issues.find(({ message }) => message === 'out of range');
    if (issue?.code === 'custom' && typeof issue.params?.expected === 'string') return issue.params.expected;
  }
  return undefined;
}

/** Text in which Markdown finds nothing to do, but for code between backticks. */
function escaped(text: string): string {
  return text.replaceAll(/`[^`]*`|[*<|]/g, (found) => (found.startsWith('`') ? found : `\\${found}`));
}

function code(word: unknown): string {
  return `\`${String(word)}\``;
}

/** The anchor that a heading gets. */
function anchor(path: string): string {
  return path.toLowerCase().replaceAll(/[^a-z0-9-]/g, '');
}
