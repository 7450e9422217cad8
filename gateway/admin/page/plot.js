// A small live plot of the last two minutes: requests as an area, failures as bars on top of it.
/** @import { Moment } from './document.ts' */
import { drawing, setAttribute } from './dom.js';
import { figure } from './format.js';
import { PLOT_MS } from './rates.js';

const WIDTH = 240;
/** A failure among thousands of requests is still seen. */
const LEAST_BAR = 4;
const LEAST_PEAK = 1;

/** @typedef {(moment: Moment) => number | null} Pick */
/** @typedef {{ readonly name: string, readonly height: number, readonly area?: Pick, readonly bars?: Pick }} PlotOptions */

export class Plot {
  #options;
  #area = drawing('path', { class: 'plot-area' });
  #line = drawing('path', { class: 'plot-line' });
  #bars = drawing('path', { class: 'plot-bars' });

  /** @param {PlotOptions} options */
  constructor(options) {
    this.#options = options;
    this.root = drawing(
      'svg',
      {
        class: 'plot',
        viewBox: `0 0 ${WIDTH} ${options.height}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': options.name,
      },
      this.#area,
      this.#line,
      this.#bars,
    );
  }

  /**
   * Draws what lies within two minutes before `nowMs`.
   * @param {readonly Moment[]} moments
   * @param {number} nowMs
   */
  draw(moments, nowMs) {
    const { name, height, area, bars } = this.#options;
    const seen = moments.filter(({ atMs }) => atMs >= nowMs - PLOT_MS);
    const peak = Math.max(peakOf(seen, area), peakOf(seen, bars));
    const scale = { nowMs, height, peak: Math.max(peak, LEAST_PEAK) * 1.1 };
    const lines = area === undefined ? [] : linesOf(seen, area, scale);
    setAttribute(this.#line, 'd', lines.map(({ line }) => line).join(''));
    setAttribute(
      this.#area,
      'd',
      lines.map(({ line, from, to }) => `${line}L${to} ${height}L${from} ${height}Z`).join(''),
    );
    setAttribute(this.#bars, 'd', bars === undefined ? '' : barsOf(seen, bars, scale));
    setAttribute(this.root, 'aria-label', `${name}, last 2 minutes: peak ${figure(peak)}`);
    return peak;
  }
}

/** @typedef {{ readonly nowMs: number, readonly height: number, readonly peak: number }} Scale */

/**
 * @param {readonly Moment[]} moments
 * @param {Pick | undefined} pick
 */
function peakOf(moments, pick) {
  return pick === undefined ? 0 : moments.reduce((most, moment) => Math.max(most, pick(moment) ?? 0), 0);
}

/**
 * The stretches without a gap, each as a path with where it begins and ends.
 * @param {readonly Moment[]} moments
 * @param {Pick} pick
 * @param {Scale} scale
 */
function linesOf(moments, pick, scale) {
  /** @type {{ line: string, from: string, to: string }[]} */
  const lines = [];
  let isOpen = false;
  for (const moment of moments) {
    const value = pick(moment);
    const x = across(moment.atMs, scale);
    if (value === null) {
      isOpen = false;
      continue;
    }
    const y = (scale.height - (value / scale.peak) * scale.height).toFixed(1);
    const last = lines.at(-1);
    if (!isOpen || last === undefined) lines.push({ line: `M${x} ${y}`, from: x, to: x });
    else {
      last.line += `L${x} ${y}`;
      last.to = x;
    }
    isOpen = true;
  }
  return lines;
}

/**
 * @param {readonly Moment[]} moments
 * @param {Pick} pick
 * @param {Scale} scale
 */
function barsOf(moments, pick, scale) {
  return moments
    .map((moment) => {
      const value = pick(moment) ?? 0;
      if (value === 0) return '';
      const tall = Math.max(LEAST_BAR, (value / scale.peak) * scale.height);
      return `M${across(moment.atMs, scale)} ${scale.height}V${(scale.height - tall).toFixed(1)}`;
    })
    .join('');
}

/**
 * @param {number} atMs
 * @param {Scale} scale
 */
function across(atMs, { nowMs }) {
  return (WIDTH - ((nowMs - atMs) / PLOT_MS) * WIDTH).toFixed(1);
}
