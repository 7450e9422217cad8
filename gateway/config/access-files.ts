// The users and key files that a route's authentication goes by, read and checked when the route is loaded.
import { readKeySet } from '../access/key-set.ts';
import { readUsers } from '../access/users-file.ts';
import type { ConfigDocument } from './document.ts';
import type { Path, Problem } from './problem.ts';
import type { RouteConfig } from './route-schema.ts';
import { readSideFile, sideFilePath } from './side-file.ts';

interface WithProblems {
  readonly route: RouteConfig;
  readonly problems: readonly Problem[];
}

/** The route with the content of its files; a problem for each that cannot be read, and for each line that is wrong. */
export async function readAccessFiles(route: RouteConfig, document: ConfigDocument): Promise<WithProblems> {
  const { auth } = route;
  const part = filePartOf(route);
  if (auth === null || part === null) return { route, problems: [] };
  const path = sideFilePath(part.file, route);
  const content = await readSideFile(path);
  if (typeof content === 'string') {
    return { route, problems: [document.problemAt(part.at, 'value', { message: content })] };
  }
  if (auth.kind === 'basic') {
    const problems = usersProblems(path, content);
    return { route: { ...route, auth: { ...auth, users: { ...auth.users, content } } }, problems };
  }
  if (auth.kind === 'jwt' && auth.jwks.kind === 'file') {
    const read = readKeySet(new TextDecoder().decode(content), { algorithms: auth.algorithms, isFile: true });
    const problems = read.ok ? [] : [document.problemAt(part.at, 'value', { message: read.message })];
    return { route: { ...route, auth: { ...auth, jwks: { ...auth.jwks, content } } }, problems };
  }
  return { route, problems: [] };
}

/** The paths of these files. */
export function accessFilesOf(route: RouteConfig): string[] {
  const part = filePartOf(route);
  return part === null ? [] : [sideFilePath(part.file, route)];
}

function filePartOf({ auth }: RouteConfig): { readonly file: string; readonly at: Path } | null {
  if (auth?.kind === 'basic') return { file: auth.users.file, at: ['auth', 'basic', 'users'] };
  if (auth?.kind === 'jwt' && auth.jwks.kind === 'file') return { file: auth.jwks.file, at: ['auth', 'jwt', 'jwks'] };
  return null;
}

function usersProblems(path: string, content: Uint8Array): Problem[] {
  const read = readUsers(content);
  if (read.ok) return [];
  return read.faults.map(({ line, ...fault }) => ({
    file: path,
    line: Math.max(line, 1),
    column: 1,
    key: '',
    ...fault,
  }));
}
