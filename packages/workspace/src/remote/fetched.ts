import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import type { RemoteAccess } from '../port/remote-git.ts';
import type { Repository } from '../source/git/repository.ts';

/**
 * Repositories fetched from remotes: a repository for each commit and depth, unchanged once named. So no lock is needed, and a dying
 * process leaves nothing half done. Repositories of the same remote share packs by links.
 */
export const remotesFolder = (dataDir: string): string => join(dataDir, 'remotes');

/** Runs of a tenant share repositories fetched with the same credentials. */
export function folderOf({ dataDir }: Pick<Deps, 'dataDir'>, { remote, tenant, credentials }: RemoteAccess): string {
  const { secret = null, username = null } = credentials ?? {};
  const key = JSON.stringify([tenant, remote.url, secret, username]);
  return join(remotesFolder(dataDir), createHash('sha256').update(key).digest('hex').slice(0, 40));
}

export const nameOf = (commit: string, depth: number): string => `${commit}.${depth}`;

/** Asks for everything. */
export const unlimited = 0x7fffffff;

/** A repository with the commit and at least the wanted depth of its history. */
export function findFetched(
  deps: Pick<Deps, 'dataDir'>,
  input: { access: RemoteAccess; commit: string; depth: number },
) {
  const folder = folderOf(deps, input.access);
  const fits = namesIn(folder).filter((name) => {
    const [commit, depth] = name.split('.');
    return commit === input.commit && (Number(depth) >= input.depth || !existsSync(join(folder, name, 'shallow')));
  });
  const [name] = fits;
  if (name === undefined) return undefined;
  // Maintenance removes long unused repositories.
  utimesSync(join(folder, name), new Date(), new Date());
  return asRepository(join(folder, name));
}

/** The most recently used repository of this remote. */
export function newestFetched(deps: Pick<Deps, 'dataDir'>, access: RemoteAccess): string | undefined {
  const folder = folderOf(deps, access);
  const paths = namesIn(folder).map((name) => join(folder, name));
  const usedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return paths.sort((a, b) => usedAt(b) - usedAt(a))[0];
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^[0-9a-f]{40}\.\d+$/.test(name)) : [];
}

/** The repository is this process's own, so git may read the repository without further checks. */
export const asRepository = (path: string): Repository => ({
  ...{ gitDir: path, common: path, fingerprints: [], info: [], infoTimes: [], as: undefined, use: 'source' },
});
