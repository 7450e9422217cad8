// What the log says of a service that others make fail: every change once, and little where it changes all the time.
import { describe, expect, it } from 'vitest';
import { OutageLog } from '../../../gateway/auth/outage-log.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const OUT = 'nobody comes in';
const BACK = 'the service for authentication answers again';
const PAUSE_MS = 30_000;

function create() {
  const clock = createScriptedClock();
  const lines: [level: string, message: string, fields: object][] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push([level, message, fields]);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const outage = new OutageLog({ clock, log, fields: { authentication: 'a' } });
  const flip = (times: number): void => {
    for (let at = 0; at < times; at++) {
      if (outage.isOut) outage.succeeded();
      else outage.failed(`error ${at}`, OUT);
    }
  };
  return { clock, lines, outage, flip };
}

describe('the log of an outage', () => {
  it('says once that it begins and once that it ends', () => {
    const { clock, lines, outage } = create();
    outage.succeeded();
    for (let at = 0; at < 3; at++) outage.failed(`error ${at}`, OUT);
    clock.advance(PAUSE_MS);
    for (let at = 0; at < 3; at++) outage.succeeded();
    expect(lines).toEqual([
      ['warn', OUT, { authentication: 'a', error: 'error 0' }],
      ['info', BACK, { authentication: 'a' }],
    ]);
  });

  it('says the first outage at once, however early it comes', () => {
    const { lines, flip } = create();
    flip(1);
    expect(lines).toHaveLength(1);
  });

  it('has one line in 30 s where it changes all the time, with the count of the changes since the last one', () => {
    const { clock, lines, outage, flip } = create();
    flip(1000);
    expect(lines).toHaveLength(1);
    clock.advance(PAUSE_MS - 1);
    flip(1);
    expect(outage.isOut).toBe(true);
    clock.advance(1);
    flip(1000);
    // 999 behind the first line, one within its pause, and the one that is told.
    expect(lines.slice(1)).toEqual([['info', BACK, { authentication: 'a', flips: 1001 }]]);
    clock.advance(PAUSE_MS);
    flip(2);
    expect(lines.slice(2)).toEqual([['warn', OUT, { authentication: 'a', error: 'error 1', flips: 1001 }]]);
  });

  it('tells an end within the pause when that is over, whether the service is heard of again or not', () => {
    const { clock, lines, outage, flip } = create();
    flip(2);
    outage.tell();
    expect(lines).toHaveLength(1);
    clock.advance(PAUSE_MS);
    outage.tell();
    outage.tell();
    outage.succeeded();
    expect(lines.slice(1)).toEqual([['info', BACK, { authentication: 'a' }]]);
  });

  it('tells an outage that was held back with its newest error', () => {
    const { clock, lines, outage, flip } = create();
    flip(1);
    clock.advance(PAUSE_MS);
    flip(2);
    outage.failed('newest', OUT);
    clock.advance(PAUSE_MS);
    outage.tell();
    expect(lines.slice(2)).toEqual([['warn', OUT, { authentication: 'a', error: 'newest' }]]);
  });

  it('says nothing when the pause ends as it began', () => {
    const { clock, lines, outage, flip } = create();
    flip(3);
    clock.advance(PAUSE_MS);
    outage.tell();
    outage.failed('again', OUT);
    expect(lines).toHaveLength(1);
  });
});
