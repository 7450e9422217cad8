// The `rewrite` section of a route: what is changed on the way to the service and back.
import { list, section, text } from './fields.ts';
import { fieldMap, pathPrefix, rewritableName } from './http-fields.ts';
import { isHostField } from './net-fields.ts';
import { suggest } from './suggest.ts';

const HOST_WORDS = ['client', 'upstream'] as const;

const host = text('client, upstream or a host', (written): 'client' | 'upstream' | { literal: string } | undefined => {
  const word = HOST_WORDS.find((candidate) => candidate === written);
  if (word !== undefined) return word;
  // A misspelt word would be a valid host, and be sent.
  return isHostField(written) && suggest(written, HOST_WORDS) === undefined ? { literal: written } : undefined;
});

const fieldChanges = section({
  set: fieldMap(rewritableName).prefault({}).describe('Fields that are put in place of any received.'),
  remove: list(rewritableName, { of: 'header names' }).prefault([]).describe('Fields that are not passed on.'),
});

/** The `rewrite` section. */
export const rewrite = section({
  stripPrefix: pathPrefix.prefault('').describe('Removed from the start of the path, literally.'),
  addPrefix: pathPrefix.prefault('').describe('Put before the path.'),
  host: host
    .prefault('client')
    .describe('The Host field for the service: client (as received), upstream or a literal.'),
  requestHeaders: fieldChanges.prefault({}).describe('Changes of request fields.'),
  responseHeaders: fieldChanges.prefault({}).describe('Changes of response fields.'),
});
