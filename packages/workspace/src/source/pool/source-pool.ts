import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { z } from 'zod';
import { type Deps, errnoOf } from '../../deps.ts';
import { linkFile, removeFolder } from '../../files/index.ts';
import { temporaryPath } from '../../run-folder/index.ts';
import type { FoundSource } from '../git/found-source.ts';
import { isSoundEntry } from './check-entry.ts';
import { entryFile, namesIn, sourcesFolder, usedAt } from './entry.ts';
import { evictSource, evictSources } from './evict-sources.ts';
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

const entrySchema = z.strictObject({ format: z.literal(1), packs: z.array(z.string().regex(/^pack-[0-9a-f]{40}$/)) });

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
      const [newest] = namesIn(trees)
        .map((name) => join(trees, name))
        .toSorted((a, b) => usedAt(b) - usedAt(a));
      const packs = newest === undefined ? undefined : packsOf(newest);
      if (newest === undefined || packs === undefined) return [];
      return (await isSoundEntry(deps, newest, packs)) ? packs : [];
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
  return join(sourcesFolder(dataDir), digest(tenant).slice(0, 32), digest(key).slice(0, 40));
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Links the packs of an entry after a look at each. */
async function linkPacks(deps: Deps, entry: string, to: string): Promise<boolean> {
  const packs = packsOf(entry);
  if (packs === undefined) return false;
  if (!(await isSoundEntry(deps, entry, packs))) return false;
  try {
    for (const pack of packs) {
      const target = join(to, pack.slice(entry.length + 1));
      for (const kind of ['pack', 'idx']) await linkFile(`${pack}.${kind}`, `${target}.${kind}`);
      markShared(target);
    }
    utimesSync(entryFile(entry), deps.now() / 1000, deps.now() / 1000);
    return true;
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
  const aside = temporaryPath(deps, 'source');
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  try {
    for (const pack of packs) {
      for (const kind of ['pack', 'idx']) await linkFile(join(from, `${pack}.${kind}`), join(aside, `${pack}.${kind}`));
      markShared(join(from, pack));
    }
    // Not fsynced: the packs are on disk, and the next reader notices an entry with a lost name.
    writeFileSync(entryFile(aside), JSON.stringify({ format: 1, packs } satisfies z.infer<typeof entrySchema>));
    utimesSync(entryFile(aside), deps.now() / 1000, deps.now() / 1000);
    deps.onPoint('pool.made');
    mkdirSync(join(entry, '..'), { recursive: true, mode: 0o700 });
    renameSync(aside, entry);
    deps.onPoint('pool.kept');
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
  } finally {
    await removeFolder(aside);
  }
}

/** Paths without `.pack`; undefined for a missing entry. */
function packsOf(entry: string): string[] | undefined {
  try {
    const read = entrySchema.safeParse(JSON.parse(readFileSync(entryFile(entry), 'utf8')));
    return read.data?.packs.map((pack) => join(entry, pack));
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
