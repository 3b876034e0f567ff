import { type Deps, type Owner, WorkspaceError } from '../deps.ts';
import type { RemoteAccess } from '../port/remote-git.ts';
import { isRefName } from '../store/objects/index.ts';
import { assertDone } from './failure.ts';
import { withStaging } from './staging.ts';

/** Reads refs of a remote: full names and their objects. A tag has its commit under `refs/tags/NAME^{}`. */
export async function listRefs(
  deps: Deps,
  input: { runId: string; access: RemoteAccess; patterns: readonly string[]; signal?: AbortSignal | undefined },
): Promise<Map<string, string>> {
  const { runId, access, patterns, signal } = input;
  const git = remoteGit(deps);
  const result = await withStaging(deps, runId, (folder: string, owner: Owner) =>
    git.run({ runId, access, folder, owner, args: ['ls-remote', '--', access.remote.url, ...patterns], signal }),
  );
  assertDone(access, result);
  const rows = result.stdout.split('\n').map((row) => /^([0-9a-f]{40})\t(\S.*)$/.exec(row));
  return new Map(rows.flatMap((row) => (row === null ? [] : [[row[2] ?? '', row[1] ?? '']])));
}

export function remoteGit({ remoteGit: git }: Pick<Deps, 'remoteGit'>) {
  if (git !== undefined) return git;
  throw new WorkspaceError('EREMOTEOFF', 'This process cannot read remote repositories.');
}

/** The target of a user's name: the ref to fetch, and its commit. */
export async function findRemoteRef(
  deps: Deps,
  input: { runId: string; access: RemoteAccess; ref: string | undefined; signal?: AbortSignal | undefined },
): Promise<{ name: string; commit: string }> {
  const { ref = 'HEAD', access } = input;
  if (/^[0-9a-f]{40}$/.test(ref)) return { name: ref, commit: ref };
  const none = (why: string) =>
    new WorkspaceError('EREFUNKNOWN', `${access.remote.url} has no ${JSON.stringify(ref)}${why}.`);
  const names = ref === 'HEAD' || ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  // A plus sign or a dash at the beginning has another meaning for git.
  if (/^[-+]/.test(ref) || !names.every((name) => name === 'HEAD' || isRefName(name)))
    throw none(': a remote source takes a branch, a tag or the whole id of a commit');
  const refs = await listRefs(deps, { ...input, patterns: names.flatMap((name) => [name, `${name}^{}`]) });
  const name = names.find((one) => refs.has(one));
  const commit = name && (refs.get(`${name}^{}`) ?? refs.get(name));
  if (name === undefined || commit === undefined) throw none(ref === 'HEAD' ? ': the repository is empty' : '');
  return { name, commit };
}
