import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { type Deps, errnoOf, unlessMissing } from '../deps.ts';
import { writeDurably } from '../files/index.ts';
import type { RemoteAccess } from '../port/remote-git.ts';
import type { Repository } from '../source/git/repository.ts';
import * as keyed from '../store/keyed/index.ts';

/**
 * Repositories fetched from remotes: a repository for each commit and depth, unchanged once named. So no lock is needed, and a dying
 * process leaves nothing half done. Repositories of the same remote share packs by links.
 */
export const remoteKind: keyed.Kind = { name: 'remote', folder: 'remotes', groups: 1, isSynced: true };

/** Runs of a tenant share repositories fetched with the same credentials. */
export function folderOf({ dataDir }: Pick<Deps, 'dataDir'>, { remote, tenant, credentials }: RemoteAccess): string {
  const { secret = null, username = null } = credentials ?? {};
  const key = JSON.stringify([tenant, remote.url, secret, username]);
  return join(keyed.folderOfKind(dataDir, remoteKind), createHash('sha256').update(key).digest('hex').slice(0, 40));
}

export const nameOf = (commit: string, depth: number): string => `${commit}.${depth}`;

/** Asks for everything. */
export const unlimited = 0x7fffffff;

/** A repository with the commit and at least the wanted depth of its history. */
export async function findFetched(
  deps: Deps,
  input: { access: RemoteAccess; commit: string; depth: number },
): Promise<Repository | undefined> {
  for (const path of await repositoriesOf(deps, input.access)) {
    const [commit, depth] = basename(path).split('.');
    const fits = commit === input.commit && (Number(depth) >= input.depth || !existsSync(join(path, 'shallow')));
    if (fits && (await isSound(deps, path)) && keyed.noteUse(deps, remoteKind, path)) return asRepository(path);
  }
  return undefined;
}

/** The most recently used repository of this remote. */
export async function newestFetched(deps: Deps, access: RemoteAccess): Promise<string | undefined> {
  for (const path of await repositoriesOf(deps, access)) if (await isSound(deps, path)) return path;
  return undefined;
}

async function repositoriesOf(deps: Deps, access: RemoteAccess): Promise<string[]> {
  const paths = await keyed.newestIn(remoteKind, folderOf(deps, access));
  return paths.filter((path) => /^[0-9a-f]{40}\.\d+$/.test(basename(path)));
}

/** Removes the long unused repositories. A run reading a repository at this moment has set its time. */
export const evictRemotes = (deps: Deps): Promise<void> =>
  keyed.evictEntries(deps, remoteKind, { idleMs: deps.limits.trashMs, bytesOf: () => 0 });

const sealSchema = z.strictObject({ format: z.literal(1), digest: z.string(), packs: z.array(z.string()) });
const sealFile = (path: string): string => join(path, 'entry.json');

/** Writes the names of the packs, which have checksums of their own, and a digest of the other files read by git. */
export async function seal(path: string): Promise<void> {
  const packs = await packNames(path);
  await writeDurably(sealFile(path), JSON.stringify({ format: 1, digest: digestOf(path), packs }));
}

/** Whether a repository has its original bytes. A damaged repository is set aside. */
export async function isSound(deps: Deps, path: string): Promise<boolean> {
  const why = await damageOf(deps, path).catch(unlessMissing<keyed.Damage>('A file is missing.'));
  if (why === undefined) return true;
  keyed.setAside(deps, remoteKind, { entry: path, why });
  return false;
}

async function damageOf(deps: Deps, path: string): Promise<keyed.Damage> {
  const sealed = readSeal(path);
  if (sealed === 'damaged') return 'entry.json: damaged.';
  if (sealed !== undefined && sealed.digest !== digestOf(path)) return 'shallow, a ref or the configuration: damaged.';
  const packs = (sealed?.packs ?? (await packNames(path))).map((name) => join(path, 'objects/pack', name));
  return keyed.findDamagedPacks(deps, { entry: path, packs });
}

/** Undefined for a repository of an earlier version. */
function readSeal(path: string): z.infer<typeof sealSchema> | 'damaged' | undefined {
  try {
    return sealSchema.parse(JSON.parse(readFileSync(sealFile(path), 'utf8')));
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? undefined : 'damaged';
  }
}

export const wanted = 'refs/holdpoint/wanted';

function digestOf(path: string): string {
  const hash = createHash('sha256');
  for (const name of ['HEAD', 'config', 'shallow', wanted]) {
    const at = join(path, name);
    hash.update(existsSync(at) ? `${name} ${readFileSync(at, 'latin1')}\0` : `${name}\0`);
  }
  return hash.digest('hex');
}

async function packNames(path: string): Promise<string[]> {
  const names = await readdir(join(path, 'objects/pack'));
  return names.flatMap((name) => /^(pack-[0-9a-f]{40})\.pack$/.exec(name)?.[1] ?? []);
}

/** The repository is this process's own, so git may read the repository without further checks. */
export const asRepository = (path: string): Repository => ({
  ...{ gitDir: path, common: path, fingerprints: [], info: [], infoTimes: [], as: undefined, use: 'source' },
});
