import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { parseRemote, type RemoteSource } from '@holdpoint/contract';
import { type Deps, errnoOf, type Progress, WorkspaceError, type WorkspaceRecord } from '../deps.ts';
import { removeFolder } from '../files/index.ts';
import type { RemoteAccess } from '../port/remote-git.ts';
import { commitsAsked } from '../repository/index.ts';
import { temporaryPath } from '../run-folder/index.ts';
import type { Repository } from '../source/git/repository.ts';
import { createBare } from '../store/shadow.ts';
import { fetchCommit, findRemoteRef, listRefs } from './fetch-commit.ts';
import { asRepository, findFetched, folderOf, unlimited } from './fetched.ts';

/** Deep enough to find a commit of this run under later pushes of others. */
const depth = 100;

/**
 * Asks the remote for its branches, and fetches the tip of the target branch. A process without a way to remotes only plans, and takes the
 * remote to be where the run began.
 */
export async function openRemoteTarget(
  deps: Deps,
  input: { record: WorkspaceRecord; source: RemoteSource; branch: string; runId: string },
): Promise<Repository> {
  const { record, source, branch, runId } = input;
  const access = accessTo(deps, source, record.tenant ?? '');
  const empty = { ...asRepository(await emptyRepository(deps, runId)), use: 'publish' as const };
  if (deps.remoteGit === undefined) return { ...empty, remote: { access, branches: assumed(input), tip: undefined } };
  return deps.fetching(folderOf(deps, access), async () => {
    const branches = await listRefs(deps, { runId, access, patterns: ['refs/heads/*'] });
    const commit = branches.get(branch);
    if (commit === undefined || commit === record.base_commit)
      return { ...empty, remote: { access, branches, tip: undefined } };
    const found = await findFetched(deps, { access, commit, depth });
    if (found !== undefined) return { ...empty, remote: { access, branches, tip: found } };
    const fetched = await fetchCommit(deps, { runId, access, name: branch, depth });
    const now = new Map([...branches, [branch, fetched.commit]]);
    return { ...empty, remote: { access, branches: now, tip: fetched.repository } };
  });
}

function assumed({ record, source }: { record: WorkspaceRecord; source: RemoteSource }): Map<string, string> {
  const { ref } = source;
  if (ref === undefined || record.base_commit === null) return new Map();
  return new Map([[ref.startsWith('refs/') ? ref : `refs/heads/${ref}`, record.base_commit]]);
}

/** Stands for the configuration and the attributes hidden by a remote. */
async function emptyRepository(deps: Deps, runId: string): Promise<string> {
  const path = join(deps.dataDir, 'git', 'empty.git');
  if (existsSync(path)) return path;
  const aside = join(temporaryPath(deps, runId), 'empty.git');
  mkdirSync(join(aside, '..'), { recursive: true, mode: 0o700 });
  try {
    await createBare(aside);
    renameSync(aside, path);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
  } finally {
    await removeFolder(join(aside, '..'));
  }
  return path;
}

/** Throws for an unusable URL, and for a host not opened by the operator. Contacts nothing. */
export function accessTo(deps: Pick<Deps, 'bounds'>, source: RemoteSource, tenant: string): RemoteAccess {
  const remote = parseRemote(source.url);
  if (typeof remote === 'string') throw new WorkspaceError('EREMOTEFORBIDDEN', `${source.url}: ${remote}.`);
  deps.bounds.assertRemote(remote);
  const { credentials, known_hosts } = source;
  return { remote, tenant, credentials, known_hosts };
}

/** The source's commit in a repository of this host, fetched before or now. */
export async function openRemote(
  deps: Deps,
  input: {
    runId: string;
    source: RemoteSource;
    tenant: string;
    onProgress?: ((progress: Progress) => void) | undefined;
    signal?: AbortSignal | undefined;
  },
): Promise<{ repository: Repository; commit: string }> {
  const { runId, source, onProgress, signal } = input;
  const access = accessTo(deps, source, input.tenant);
  const fetch = async () => {
    const { name, commit } = await findRemoteRef(deps, { runId, access, ref: source.ref, signal });
    const depth = Math.min(Math.max(commitsAsked(source), 1), unlimited);
    const fetched = await findFetched(deps, { access, commit, depth });
    if (fetched !== undefined) return { repository: fetched, commit };
    return fetchCommit(deps, { runId, access, name, depth, onProgress, signal });
  };
  return deps.fetching(folderOf(deps, access), fetch, signal);
}
