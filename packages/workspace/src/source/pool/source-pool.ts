import { createHash } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { type Deps, errnoOf } from '../../deps.ts';
import { linkFile } from '../../files/index.ts';
import { beginEntry, folderOfKind, newestIn, noteUse } from '../../store/keyed/index.ts';
import type { FoundSource } from '../git/repository.ts';
import { entryFile, entryText, evictSource, evictSources, packsOf, soundPacks, sourceKind } from './entry.ts';
import { openSourceStats, type SourceStats } from './source-stats.ts';

/**
 * The common part of a source's runs: packs with the objects of its trees. Each entry holds exactly the objects of a single tree, because
 * the sandbox of a run sees its packs, and content removed from a source must not come back. Entries are made aside and renamed, and
 * nothing changes them. Runs link them; tenants share none.
 */
export interface SourcePool {
  /** Packs, without `.pack`, with some of the objects of the source's next tree. */
  packs(): Promise<readonly string[]>;
  /** Gives a repository the objects of a tree. @returns false when they are not there, or damaged */
  link(tree: string, shadow: string): Promise<boolean>;
  /** Keeps the packs of a repository with exactly the objects of this tree. */
  keep(tree: string, shadow: string): Promise<void>;
  /** The same for the commits before a commit. */
  linkHistory(name: string, repository: string): Promise<boolean>;
  keepHistory(name: string, repository: string): Promise<void>;
  /** The last known content of the source; undefined when statuses cannot decide. */
  recall(): Promise<SourceStats | undefined>;
  /** Like `recall`, without earlier knowledge. */
  learn(): Promise<SourceStats | undefined>;
}

interface Input {
  tenant: string | undefined;
  source: Source;
  found: FoundSource;
  /** See `fileSystemClock`. */
  clock: string;
}

/** @returns undefined when nothing of the source is kept */
export function openSourcePool(deps: Deps, input: Input): SourcePool | undefined {
  const { found } = input;
  if (deps.limits.poolBytes === 0 || (found.type !== 'directory' && found.type !== 'git')) return undefined;
  const folder = sourceFolder(deps.dataDir, { ...input, found });
  const trees = join(folder, 'trees');
  const histories = join(folder, 'histories');
  const stats = async (isKnown: boolean) =>
    found.type === 'directory'
      ? await openSourceStats({ folder, source: found.path, clock: input.clock, isKnown })
      : undefined;
  const keep = async (entry: string, repository: string) => {
    await keepPacks(deps, { entry, from: packFolder(repository) });
    await evictSource(deps, folder);
    await evictSources(deps);
  };
  return {
    packs: async () => {
      const [newest] = await newestIn(sourceKind, trees);
      return (newest === undefined ? undefined : await soundPacks(deps, newest)) ?? [];
    },
    link: (tree, shadow) => linkPacks(deps, join(trees, tree), packFolder(shadow)),
    keep: (tree, shadow) => keep(join(trees, tree), shadow),
    linkHistory: (name, repository) => linkPacks(deps, join(histories, name), packFolder(repository)),
    keepHistory: (name, repository) => keep(join(histories, name), repository),
    recall: () => stats(true),
    learn: () => stats(false),
  };
}

const packFolder = (repository: string): string => join(repository, 'objects/pack');

/** The key has the path with its device and inode: a new directory in the place of an old directory is another source. */
function sourceFolder(
  dataDir: string,
  input: Omit<Input, 'found'> & { found: Extract<FoundSource, { type: 'directory' | 'git' }> },
): string {
  const { found, source, tenant = '' } = input;
  const path = found.type === 'git' ? found.repository.common : found.path;
  const { dev, ino } = statSync(path, { bigint: true });
  const globs = source.type === 'directory' ? [source.include ?? null, source.exclude ?? null] : [];
  const folders = source.type === 'directory' && source.with !== undefined ? [source.with] : [];
  const key = JSON.stringify([found.type, path, String(dev), String(ino), ...globs, ...folders]);
  return join(folderOfKind(dataDir, sourceKind), digest(tenant).slice(0, 32), digest(key).slice(0, 40));
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Links the packs of an entry after a look at each. */
async function linkPacks(deps: Deps, entry: string, to: string): Promise<boolean> {
  const packs = await soundPacks(deps, entry);
  if (packs === undefined) return false;
  try {
    for (const pack of packs) {
      const target = join(to, pack.slice(entry.length + 1));
      for (const kind of ['pack', 'idx']) await linkFile(`${pack}.${kind}`, `${target}.${kind}`);
      markShared(target);
    }
    return noteUse(deps, sourceKind, entry);
  } catch (error) {
    // Another process removed the entry at this moment. The run makes its own objects.
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The collection of an ended run leaves shared packs alone. */
const markShared = (pack: string): void => writeFileSync(`${pack}.keep`, '', { mode: 0o444 });

/** Keeps all packs of a folder as an entry. When two processes keep the same, the first wins. */
async function keepPacks(deps: Deps, { entry, from }: { entry: string; from: string }): Promise<void> {
  const packs = readdirSync(from).flatMap((name) => /^(pack-[0-9a-f]{40})\.pack$/.exec(name)?.[1] ?? []);
  await using build = beginEntry(deps, sourceKind);
  for (const pack of packs) {
    for (const kind of ['pack', 'idx'])
      await linkFile(join(from, `${pack}.${kind}`), join(build.path, `${pack}.${kind}`));
    markShared(join(from, pack));
  }
  writeFileSync(entryFile(build.path), entryText(basename(entry), packs));
  await build.place(entry, {
    isSound: async () => (await soundPacks(deps, entry)) !== undefined,
    isTorn: () => packsOf(entry) === undefined,
  });
}
