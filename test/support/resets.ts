// The failures of a load that the kernel alone has no part in.
import type { FailedRequest, Load } from './load.ts';

/**
 * The kernel resets the connections that wait at a listening socket when it is closed (unless net.ipv4.tcp_migrate_req is
 * set); a worker closes its own when it finds them empty, so that this is rare. Gives the failures that are no resets; all
 * of them when there are more resets than workers have gone.
 */
export function unexplained({ failed }: Load, workersGone: number): FailedRequest[] {
  const isReset = ({ status, why }: FailedRequest) => status === null && /^(?:read|connect) ECONNRESET/.test(why);
  const others = failed.filter((each) => !isReset(each));
  return failed.length - others.length > workersGone ? [...failed] : others;
}
