import { WorkspaceError, type WorkspaceErrorCode } from '../errors.ts';
import type { RemoteAccess, RemoteGit } from '../port/remote-git.ts';

/** Messages of hosts and git, the more significant first. */
const kinds: readonly (readonly [RegExp, WorkspaceErrorCode])[] = [
  [/host key verification failed|no .* host key is known|remote host identification has changed/i, 'EREMOTEHOSTKEY'],
  [
    /authentication failed|could not read (username|password)|terminal prompts disabled|permission denied|error in libcrypto|invalid format|returned error: 40[13]/i,
    'EREMOTEAUTH',
  ],
  [/couldn't find remote ref|not our ref|does not allow request for unadvertised/i, 'EREFUNKNOWN'],
  [
    /repository .* not found|not found$|returned error: 404|does not appear to be a git repository|no such file or directory/im,
    'EREMOTEMISSING',
  ],
];

/** Throws the caller's error for a failed call of git. */
export function assertDone(access: RemoteAccess, result: Awaited<ReturnType<RemoteGit['run']>>): void {
  if (result.ok) return;
  const { url } = access.remote;
  if (result.refused !== undefined) throw new WorkspaceError('EREMOTEFORBIDDEN', `${url}: ${result.refused}`);
  const said = lastWords(result.stderr);
  const code = kinds.find(([words]) => words.test(result.stderr))?.[1] ?? 'EREMOTEUNREACHABLE';
  throw new WorkspaceError(code, `git could not use ${url}: ${said}`);
}

/** Without lines of progress. */
export const lastWords = (stderr: string): string =>
  stderr
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '' && !/^(remote: )?[A-Z][a-z ]+: +\d+/.test(line))
    .join(' ')
    .trim()
    .slice(-1000) || 'it ended without a word';
