// What `GET /history` may be asked, and how its times are written.
import { expect, it } from 'vitest';
import { historyDocument, readHistoryQuery } from '../../../gateway/registration/history-requests.ts';

it.each([
  ['', { afterId: 0, limit: 100 }],
  ['service=web&after=17&limit=1000', { service: 'web', afterId: 17, limit: 1000 }],
  ['since=90s', { since: { kind: 'ago', durationMs: 90_000 }, afterId: 0, limit: 100 }],
  ['since=1970-01-01T00:00:01.5Z', { since: { kind: 'time', wallMs: 1500 }, afterId: 0, limit: 100 }],
  ['since=1970-01-01T02:00:00%2B02:00', { since: { kind: 'time', wallMs: 0 }, afterId: 0, limit: 100 }],
])('reads %j', (query, value) => {
  expect(readHistoryQuery(new URLSearchParams(query))).toEqual({ kind: 'ok', value });
});

it.each([
  ['service=', /service is missing/],
  ['service=a%00', /service must be/],
  ['service=a&service=b', /given twice/],
  ['env=prod', /unknown parameter "env": known are service, since, after, limit/],
  ['since=yesterday', /since must be a time like .* or a duration like 2h, got "yesterday"/],
  ['since=2026-01-31T12:00:00', /since must be/],
  ['since=2026-01-31T12:00:00+02:00', /since must be/],
  ['since=2026-13-31T12:00:00Z', /since must be/],
  ['since=1969-12-31T00:00:00Z', /since must be/],
  ['since=0s', /since must be/],
  ['after=-1', /after must be/],
  ['after=x', /after must be/],
  ['after=99999999999999999', /after must be/],
  ['limit=0', /limit must be an integer 1\.\.1000/],
  ['limit=1001', /limit must be/],
  ['limit=1e2', /limit must be/],
  [`${Array.from({ length: 33 }, (_, at) => `p${at}=1`).join('&')}`, /33 parameters, at most 32/],
])('refuses %j', (query, sentence) => {
  const result = readHistoryQuery(new URLSearchParams(query));
  expect(result).toEqual({ kind: 'bad', error: expect.stringMatching(sentence) });
});

it('writes times in UTC, and none for what is no time', () => {
  const registration = { service: 'web', instance: 'a', addr: '10.0.0.5', port: 80, meta: {} };
  const entry = { ...registration, id: 1, registeredMs: 1500, lastSeenMs: 2000, goneMs: Number.NaN, why: 'expired' };
  expect(historyDocument(entry)).toEqual({
    ...registration,
    registered: '1970-01-01T00:00:01.500Z',
    lastSeen: '1970-01-01T00:00:02.000Z',
    gone: null,
    why: 'expired',
  });
});
