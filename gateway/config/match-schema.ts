// The match rules of a route: which requests are its own.
import { list, section } from './fields.ts';
import { fieldMap, fieldName, method, pathPattern } from './http-fields.ts';
import { hostPattern } from './net-fields.ts';

/** One rule of `match`; all of its conditions must hold. */
export const matchRule = section({
  hosts: list(hostPattern, { of: 'hosts', min: 1 })
    .exactOptional()
    .describe('Hosts like shop.example.com or *.example.com, without port; absent: any host.'),
  paths: list(pathPattern, { of: 'paths', min: 1 })
    .prefault(['/*'])
    .describe('Paths: exact like /orders, or a prefix with a final *; absent: any path.'),
  methods: list(method, { of: 'methods like GET', min: 1 })
    .exactOptional()
    .describe('Methods in capitals; absent: any method.'),
  headers: fieldMap(fieldName)
    .prefault({})
    .describe('Header fields that must all have this value; "*" = any value, but present.'),
}).transform(({ hosts = null, paths, methods = null, headers }) => {
  return { hosts, paths, methods, headers: lowerCaseNames(headers) };
});

function lowerCaseNames(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}
