// What the tests of who may come in share: users, and a service that decides when the test wants it to.
import { hashSync } from 'bcryptjs';
import type { RawConnection } from './raw-upstream.ts';
import { upstreamThat } from './scene.ts';
import { waitFor } from './wait-for.ts';

/** One user, anna, whose password is `opensesame`. */
export const USERS = `anna:${hashSync('opensesame', 4)}`;

/** The Authorization line of a user, with its CRLF. */
export function basicLine(name = 'anna', password = 'opensesame'): string {
  return `Authorization: Basic ${Buffer.from(`${name}:${password}`).toString('base64')}\r\n`;
}

/** The answers of a service for authentication. */
export const LET_IN = 'HTTP/1.1 200 OK\r\nX-User: anna\r\nContent-Length: 0\r\n\r\n';
export const KEEP_OUT = 'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Token\r\nContent-Length: 2\r\n\r\nno';

export interface Judge {
  /** The `auth` section that asks it. */
  readonly auth: object;
  /** The heads of what it was asked, in order. */
  readonly heads: readonly string[];
  /** Waits until it was asked so often. */
  asked(times: number): Promise<void>;
  /** Answers the question number `at`, from 0. */
  answer(at: number, octets: string): void;
  /** Waits until nobody wants to know the answer to that question any more. */
  calledOff(at: number): Promise<void>;
}

/** A service for authentication that answers when it is told to; with `octets` it gives that answer at once. */
export async function startJudge({ octets = '', timeout = '20s' } = {}): Promise<Judge> {
  const heads: string[] = [];
  const connections: RawConnection[] = [];
  const upstream = await upstreamThat((connection, head) => {
    heads.push(head);
    connections.push(connection);
    if (octets !== '') connection.socket.write(octets, 'latin1');
  });
  const url = `http://127.0.0.1:${upstream.port}/auth`;
  const limitMs = 5000;
  return {
    auth: { forward: { url, timeout, responseHeaders: ['x-user'] } },
    heads,
    asked: async (times) => {
      await waitFor(() => heads.length >= times, { limitMs, what: `${times} questions` });
    },
    answer: (at, answer) => void connections[at]?.socket.write(answer, 'latin1'),
    calledOff: async (at) => {
      const isOver = () => connections[at]?.ended === true || connections[at]?.socket.destroyed === true;
      await waitFor(isOver, { limitMs, what: `question ${at} to be called off` });
    },
  };
}
