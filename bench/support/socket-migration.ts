// Whether the kernel gives connections that wait at a listening socket which closes to another one on the same port.
import { readFileSync, writeFileSync } from 'node:fs';

const SWITCH = '/proc/sys/net/ipv4/tcp_migrate_req';

export interface SocketMigration {
  /** Without it the kernel resets such connections. */
  readonly isOn: boolean;
  /** One sentence for people. */
  readonly words: string;
  /** Sets the switch back. */
  restore(): void;
}

/** Sets the switch for a drill, or leaves it as it is found; that takes the rights of root and Linux 5.14. */
export function switchMigration(to: 'on' | 'off' | 'as-found'): SocketMigration {
  const before = read();
  if (before === null) return { isOn: false, words: 'this system has no net.ipv4.tcp_migrate_req', restore };
  const wanted = to === 'as-found' ? before : to === 'on' ? '1' : '0';
  if (before !== wanted) write(wanted);
  const isOn = read() === '1';
  const how = before === read() ? 'as it was found' : `for this drill; it was ${before}`;
  return { isOn, words: `net.ipv4.tcp_migrate_req is ${isOn ? 1 : 0}, ${how}`, restore };

  function restore(): void {
    if (before !== null && read() !== before) write(before);
  }
}

function read(): string | null {
  try {
    return readFileSync(SWITCH, 'utf8').trim();
  } catch {
    return null;
  }
}

function write(value: string): void {
  try {
    writeFileSync(SWITCH, value);
  } catch {
    // Not root: it stays as it is, and `isOn` says how that is.
  }
}
