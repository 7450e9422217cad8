// The report: what is rendered is complete, escaped, and needs nothing from outside.
import { describe, expect, it } from 'vitest';
import { htmlTable, renderHtml } from '../../../bench/report/html.ts';
import { generatedPart, withGenerated } from '../../../bench/report/markdown.ts';
import type { Results } from '../../../bench/report/results.ts';
import { barChart, escapeHtml, plot } from '../../../bench/report/svg.ts';
import { table, throughputTables } from '../../../bench/report/tables.ts';

const HOSTILE = `<script>alert("1")</script> & | 'x'`;

const about = {
  date: '2026-01-01 00:00',
  commit: HOSTILE,
  machine: HOSTILE,
  versions: { [HOSTILE]: '1' },
  generator: 'wrk',
  rounds: 2,
  seconds: 1,
};
const figures = { perSecond: 100, cpuMicroseconds: 10, p50Ms: 1, p99Ms: 2, p999Ms: 3, rssMiB: 50, errors: 1 };
const curve = [[50, 1] as const, [90, 1] as const, [99, 5] as const, [99.9, 7] as const, [100, 9] as const];
const report = { requests: 10, errors: 0, seconds: 1, curve, histogram: '', fromSendCurve: curve, unanswered: 0 };
const step = { requests: 10, failed: 1, degraded: 2, extraAttempts: null, slowestMs: 9 };
const results: Results = {
  throughput: {
    about,
    measured: [
      {
        name: HOSTILE,
        peers: [
          { peer: 'weir', samples: [figures, { ...figures, cpuMicroseconds: 12 }] },
          {
            peer: 'nginx',
            samples: [
              { ...figures, cpuMicroseconds: 5 },
              { ...figures, cpuMicroseconds: 6 },
            ],
          },
          { peer: HOSTILE, samples: [], absent: HOSTILE },
        ],
      },
    ],
  },
  openLoop: {
    about,
    measured: { perSecond: 50, capacities: { weir: 100 }, peers: [{ peer: HOSTILE, rounds: [report] }] },
  },
  growth: {
    about,
    measured: [{ of: HOSTILE, points: [10, 100].map((size) => ({ size, cpuMicroseconds: [size, size] })) }],
  },
  chaos: {
    about,
    measured: {
      steps: [{ ...step, subject: HOSTILE, step: HOSTILE }],
      drills: [{ ...step, subject: 'weir', step: HOSTILE }],
      verdicts: { [HOSTILE]: HOSTILE },
      timelines: [{ subject: HOSTILE, moments: [{ atMs: 0, requests: 1, failed: 1, degraded: 0 }] }],
      marks: [{ subject: HOSTILE, step: HOSTILE, fromMs: 0, toMs: 10 }],
      absent: { [HOSTILE]: HOSTILE },
    },
  },
};

describe('the page', () => {
  it('lets no text of a result become markup', () => {
    const page = renderHtml(results);
    expect(page).not.toContain('<script');
    expect(page).not.toContain('"1"');
    expect(page).toContain(escapeHtml(HOSTILE));
  });

  it('has no address of anything outside itself', () => {
    expect(renderHtml(results)).not.toMatch(/https?:|src=|href=|@import|url\(/);
  });

  it('closes every element that it opens', () => {
    const page = renderHtml(results);
    for (const tag of ['svg', 'g', 'table', 'tr', 'td', 'section', 'div', 'details', 'text']) {
      const opened = page.match(new RegExp(`<${tag}[ >]`, 'g'))?.length ?? 0;
      expect(page.match(new RegExp(`</${tag}>`, 'g'))?.length ?? 0, tag).toBe(opened);
      expect(opened, tag).toBeGreaterThan(0);
    }
  });

  it('has no figure that is none', () => {
    expect(renderHtml(results)).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('renders without any result', () => {
    expect(renderHtml({})).toContain('<h1>');
  });
});

describe('the generated part of RESULTS.md', () => {
  it('replaces itself and keeps what is written around it', () => {
    const first = withGenerated('# Results\n\nby hand\n', 'one');
    const second = withGenerated(`${first}\nafter\n`, 'two');
    expect(first).toContain('one');
    expect(second).toMatch(/^# Results\n\nby hand\n.*two.*\nafter\n$/s);
    expect(second).not.toContain('one');
  });

  it('begins a document that was empty', () => {
    expect(withGenerated('', 'one')).toMatch(/^<!-- generated/);
  });

  it('has a section for each stage that was measured, and no other', () => {
    expect(generatedPart(results).match(/^### /gm)).toHaveLength(4);
    expect(generatedPart({})).not.toContain('###');
  });
});

describe('tables', () => {
  it('keep a cell in its column whatever it contains', () => {
    const [, , row = ''] = table(['a', 'b'], [['x | y', 'z\nz']]).split('\n');
    expect(row).toBe('| x \\| y | z z |');
  });

  it('come back from Markdown to HTML as they were', () => {
    const html = htmlTable(
      table(
        ['name', 'figure'],
        [
          [HOSTILE, 'a\\b'],
          ['', ''],
        ],
      ),
    );
    expect(html).toContain(`<td>${escapeHtml(HOSTILE)}</td><td>a\\b</td>`);
    expect(html).toContain('<td></td><td></td>');
  });

  it('give ratios of the same rounds, and say why a gateway was not measured', () => {
    const [, , weir = '', nginx = '', absent = ''] = throughputTables(results.throughput?.measured ?? []).split('\n');
    expect(weir).toContain('| 11.0 | 9 % | 1.00 |');
    expect(nginx).toContain('| 0.50 |');
    expect(absent).toContain('&lt;script>');
  });
});

describe('plots', () => {
  it('draw nothing without points', () => {
    expect(plot([{ name: 'a', points: [] }], { title: 't', xLabel: 'x', yLabel: 'y' })).toBe('');
  });

  it('stay within their frame, on linear and on logarithmic axes', () => {
    const points = [[0.001, 0.5] as const, [12, 33_333] as const, [1000, 1] as const];
    for (const isLog of [true, false]) {
      const drawn = plot([{ name: 'a', points }], {
        title: 't',
        xLabel: 'x',
        yLabel: 'y',
        isLogX: isLog,
        isLogY: isLog,
      });
      const path = /d="M([^"]+)" class="line/.exec(drawn)?.[1] ?? '';
      const places = path.split('L').map((place) => place.split(' ').map(Number));
      expect(places).toHaveLength(points.length);
      for (const [x = -1, y = -1] of places) {
        expect(x).toBeGreaterThanOrEqual(70);
        expect(x).toBeLessThanOrEqual(580);
        expect(y).toBeGreaterThanOrEqual(40);
        expect(y).toBeLessThanOrEqual(264);
      }
    }
  });

  it('draw the longest bar the widest', () => {
    const drawn = barChart('t', 'u', [
      { name: 'a', value: 10, spread: 0 },
      { name: 'b', value: 5, spread: 0 },
    ]);
    const widths = [...drawn.matchAll(/<rect [^>]*?width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths[0]).toBe(2 * (widths[1] ?? 0));
  });
});
