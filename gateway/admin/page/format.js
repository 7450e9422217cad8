// How figures and times are written on the page.
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/**
 * A rate, a share of a hundred or the like in at most four signs; a dash when it is not known.
 * @param {number | null} value
 */
export function figure(value) {
  if (value === null) return '–';
  if (value === 0) return '0';
  if (value < 0.05) return '<0.1';
  if (value < 9.95) return value.toFixed(1);
  return value < 9999.5 ? WHOLE.format(value) : SHORT.format(value);
}

/** @param {number} value */
export function count(value) {
  return WHOLE.format(value);
}

/** @param {number | null} fraction 0..1 */
export function percent(fraction) {
  return fraction === null ? '–' : `${figure(fraction * 100)} %`;
}

/** @param {number | null} ms */
export function milliseconds(ms) {
  if (ms === null) return '–';
  return ms < 1000 ? `${figure(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/**
 * A span in at most two units.
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * The local time of day, with the date unless it is today's.
 * @param {number} ms since the Unix epoch
 * @param {number} nowMs
 */
export function clockTime(ms, nowMs) {
  const time = new Date(ms);
  const text = [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':');
  if (time.toDateString() === new Date(nowMs).toDateString()) return text;
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())} ${text}`;
}

/**
 * Since when, and for how long.
 * @param {string} time RFC 3339
 * @param {number} nowMs
 */
export function since(time, nowMs) {
  const ms = Date.parse(time);
  return `since ${clockTime(ms, nowMs)} (${span(nowMs - ms)})`;
}

/**
 * Until when, and how long that is.
 * @param {string} time RFC 3339
 * @param {number} nowMs
 */
export function until(time, nowMs) {
  const ms = Date.parse(time);
  return ms <= nowMs
    ? `until ${clockTime(ms, nowMs)} (now)`
    : `until ${clockTime(ms, nowMs)} (${span(ms - nowMs)} left)`;
}

/**
 * A number of things, in words.
 * @param {number} number
 * @param {string} one
 */
export function many(number, one) {
  return `${count(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** @param {number} value */
function twoDigits(value) {
  return String(value).padStart(2, '0');
}
