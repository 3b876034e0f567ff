import { parseRemote, type RemoteSource } from '@holdpoint/contract';
import { type Deps, type Progress, WorkspaceError } from '../deps.ts';
import type { RemoteAccess } from '../port/remote-git.ts';
import { commitsAsked } from '../repository/index.ts';
import type { Repository } from '../source/git/repository.ts';
import { fetchCommit } from './fetch-commit.ts';
import { findFetched, folderOf, unlimited } from './fetched.ts';
import { findRemoteRef } from './list-refs.ts';

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
