// The request targets of blocking queries, and when their answers are overdue.
import { describe, expect, it } from 'vitest';
import { type ConsulQuestion, questionDeadlineMs, questionTarget } from '../../../gateway/discovery/consul-question.ts';

const question: ConsulQuestion = { service: 'web', index: '7', waitMs: 60_000, consistency: 'default' };

describe('questionTarget', () => {
  it.each<[Partial<ConsulQuestion>, string, string]>([
    [{}, '', '/v1/health/service/web?index=7&wait=60s'],
    [{ index: null }, '', '/v1/health/service/web'],
    [{ index: null, consistency: 'consistent' }, '', '/v1/health/service/web?consistent'],
    [{ consistency: 'stale' }, 'dc 2', '/v1/health/service/web?dc=dc%202&stale&index=7&wait=60s'],
    [{ service: 'a/b?c d' }, '', '/v1/health/service/a%2Fb%3Fc%20d?index=7&wait=60s'],
    [{ service: 'half \ud800', index: null }, '', '/v1/health/service/half%20%EF%BF%BD'],
    [{ index: null, tag: 'a/b' }, '', '/v1/health/service/web?tag=a%2Fb'],
    [{ index: '9007199254740993' }, '', '/v1/health/service/web?index=9007199254740993&wait=60s'],
  ])('%j in %j is %s', (changes, datacenter, target) => {
    expect(questionTarget({ ...question, ...changes }, datacenter)).toBe(target);
  });

  it.each([
    [1000, '1s'],
    [60_000, '60s'],
    [1500, '1500ms'],
    [1500.4, '1500ms'],
    [600_000, '600s'],
    [3_600_000, '600s'],
    [0, '10ms'],
  ])('writes a wait of %d ms as %s: always a Go duration, ten minutes at most (case 87)', (waitMs, text) => {
    expect(questionTarget({ ...question, waitMs }, '')).toMatch(new RegExp(`wait=${text}$`));
  });
});

describe('the target of a list', () => {
  it.each([
    [null, '/v1/catalog/nodes?filter=Node%20%3D%3D%20%22-%22'],
    ['7', '/v1/catalog/nodes?filter=Node%20%3D%3D%20%22-%22&index=7&wait=60s'],
  ])('with index %s is %s', (index, target) => {
    const list = { path: 'catalog/nodes', filter: 'Node == "-"', waitMs: 60_000, consistency: 'default' } as const;
    expect(questionTarget({ ...list, index }, '')).toBe(target);
  });
});

describe('questionDeadlineMs', () => {
  it('is the wait, its sixteenth, and some slack (case 85)', () => {
    expect(questionDeadlineMs(question)).toBe(60_000 + 3750 + 2000);
  });

  it('is short where Consul need not wait', () => {
    expect(questionDeadlineMs({ ...question, index: null })).toBe(5000);
  });
});
