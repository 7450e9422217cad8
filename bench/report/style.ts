// The style sheet of the report, light and dark.

const COLOURS = ['#2563eb', '#16a34a', '#d97706', '#9333ea', '#dc2626', '#0891b2', '#78716c'];

const SERIES = COLOURS.map(
  (colour, at) => `.fill${at}{fill:${colour}}.stroke${at}{stroke:${colour}}.back${at}{background:${colour}}`,
).join('\n');

export const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#1c1917, #e7e5e4); --soft: light-dark(#57534e, #a8a29e);
  --line: light-dark(#e7e5e4, #3f3f46); --page: light-dark(#ffffff, #18181b); --even: light-dark(#f5f5f4, #202024); }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 1180px;
  margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; } h2 { margin-top: 48px; border-bottom: 1px solid var(--line); } h3 { margin: 28px 0 4px; }
.about, .legend { color: var(--soft); font-size: 13px; }
.legend span { margin-right: 14px; } .legend i { display: inline-block; width: 10px; height: 10px; margin-right: 5px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 8px 24px; }
svg { width: 100%; max-width: 760px; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--text); } .title { font-weight: 600; font-size: 13px; } .small { font-size: 10px; }
.end { text-anchor: end; } .mid { text-anchor: middle; }
.grid { stroke: var(--line); } .whisker { stroke: var(--text); stroke-width: 1.5; } .line { fill: none; stroke-width: 2; }
.span0 { fill: transparent; } .span1 { fill: var(--even); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tbody tr:nth-child(even) { background: var(--even); }
summary { cursor: pointer; margin: 16px 0; }
${SERIES}
`;
