// Counts of the last seconds, kept in a lane of a cell: how many events there were, and how many of them were marked.
import type { Cell } from './cell.ts';

/** A window is seen in so many slots: it forgets a slot at a time. */
const WINDOW_SLOTS = 5;

/** How many numbers of a lane a window takes. */
export const WINDOW_NUMBERS = WINDOW_SLOTS;

/** One number holds the tick of its slot, all events and the marked ones: a lane is small, and there are many. */
const COUNT_LIMIT = 2 ** 18;
const TICK_UNIT = 2 ** 36;
const TICK_LIMIT = 2 ** 16;

/** The tick in which `nowMs` lies, of a window `windowMs` long. */
export function windowTick(nowMs: number, windowMs: number): number {
  return Math.floor((nowMs * WINDOW_SLOTS) / windowMs);
}

/** Counts one event of the tick in the window that begins at `field` of the own lane. */
export function countInWindow(cell: Cell, field: number, event: { tick: number; isMarked: boolean }): void {
  const at = field + (event.tick % WINDOW_SLOTS);
  const slot = cell.own(at);
  const tick = event.tick % TICK_LIMIT;
  const isKnown = Math.floor(slot / TICK_UNIT) === tick;
  const before = isKnown ? roomIn(slot) : tick * TICK_UNIT;
  cell.set(at, before + COUNT_LIMIT + (event.isMarked ? 1 : 0));
}

/** Marks an event that was counted without a mark; where the slot of the tick has no such event, counts a marked one. */
export function markInWindow(cell: Cell, field: number, tick: number): void {
  const at = field + (tick % WINDOW_SLOTS);
  const slot = cell.own(at);
  const isKnown = Math.floor(slot / TICK_UNIT) === tick % TICK_LIMIT;
  if (isKnown && markedOf(slot) < eventsOf(slot)) cell.set(at, slot + 1);
  else countInWindow(cell, field, { tick, isMarked: true });
}

/** The tick as an epoch counts it: what earlier epochs counted lies outside its windows. */
export function tickInEpoch(tick: number, epoch: number): number {
  return tick + epoch * WINDOW_SLOTS;
}

/** All events of the window that ends with `tick`, over all lanes. */
export function eventsInWindow(cell: Cell, field: number, tick: number): number {
  return sumSlots(cell, field, { tick, read: eventsOf });
}

/** The marked events among them. */
export function markedInWindow(cell: Cell, field: number, tick: number): number {
  return sumSlots(cell, field, { tick, read: markedOf });
}

function sumSlots(cell: Cell, field: number, { tick, read }: { tick: number; read: (slot: number) => number }): number {
  let sum = 0;
  for (let back = 0; back < WINDOW_SLOTS && back <= tick; back++) {
    const wanted = (tick - back) % TICK_LIMIT;
    const at = field + ((tick - back) % WINDOW_SLOTS);
    for (let lane = 0; lane < cell.lanes; lane++) {
      const slot = cell.at(lane, at);
      // A slot of tick 0 that nobody wrote has no events either.
      if (Math.floor(slot / TICK_UNIT) === wanted) sum += read(slot);
    }
  }
  return sum;
}

/** The slot with room for one more: a full one is halved, so that it keeps its proportion and goes on with the times. */
function roomIn(slot: number): number {
  const events = eventsOf(slot);
  if (events < COUNT_LIMIT - 1) return slot;
  const tick = Math.floor(slot / TICK_UNIT);
  return tick * TICK_UNIT + (events >> 1) * COUNT_LIMIT + (markedOf(slot) >> 1);
}

function eventsOf(slot: number): number {
  return Math.floor((slot % TICK_UNIT) / COUNT_LIMIT);
}

function markedOf(slot: number): number {
  return slot % COUNT_LIMIT;
}
