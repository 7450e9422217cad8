// The URL of a registry's store: what is read, and what is refused.
import { expect, it } from 'vitest';
import { parseStoreUrl } from '../../../gateway/config/store-url.ts';

const mysql = { kind: 'mysql', host: 'db', port: 3306, user: 'u', password: 'p', database: 'weir' };

it.each([
  ['sqlite:data/registry.db', { kind: 'sqlite', path: 'data/registry.db' }],
  ['sqlite:/var/lib/weir/registry.db', { kind: 'sqlite', path: '/var/lib/weir/registry.db' }],
  ['sqlite::memory:', { kind: 'sqlite', path: ':memory:' }],
  ['mysql://u:p@db/weir', mysql],
  ['MySQL://u:p@db:3307/weir', { ...mysql, port: 3307 }],
  ['mysql://u@db/weir', { ...mysql, password: '' }],
  ['mysql://u:p@[::1]:3307/weir', { ...mysql, host: '::1', port: 3307 }],
  [
    'mysql://u%40x:p%2F%3A%25@127.0.0.1/w%20r',
    { ...mysql, host: '127.0.0.1', user: 'u@x', password: 'p/:%', database: 'w r' },
  ],
])('reads %s', (written, location) => {
  expect(parseStoreUrl(written)).toEqual(location);
});

it.each([
  '',
  'sqlite:',
  'sqlite:a\0b',
  'data/registry.db',
  'postgres://u:p@db/weir',
  'mysql:u:p@db/weir',
  'mysql://db/weir',
  'mysql://u:p@/weir',
  'mysql://u:p@db',
  'mysql://u:p@db/',
  'mysql://u:p@db/weir/more',
  'mysql://u:p@db:99999/weir',
  'mysql://u:p@d b/weir',
  'mysql://u:%zz@db/weir',
  'mysql://u:p@db/weir?ssl=true',
  'mysql://u:p@db/weir#x',
])('refuses %j', (written) => {
  expect(parseStoreUrl(written)).toBeUndefined();
});
