import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unlessMissing } from '../errors.ts';
import type { ObjectReader } from './git.ts';
import { readObjects } from './stream-blobs.ts';
import { folderMode, parseTree, type TreeEntry } from './tree-rows.ts';

interface Chain {
  gitDir: string;
  /** The commit where every chain of first parents ends. */
  base: string;
  tips: readonly string[];
  /** Ids of the commits in the chains, and perhaps of others. */
  commits: readonly string[];
}

/** Pairs of commits compared at once: their folders are in memory together. */
const mostPairs = 64;
/** Entries of folders read at once. */
const mostEntries = 4_000_000;

/**
 * The paths that `git log --first-parent --name-only tips ^base` lists, from the objects themselves. Undefined for every case that git
 * has to judge: a chain that does not end at the base, a shallow commit, a folder with two entries of one name, a very large comparison.
 */
export async function changedInChain(objects: ObjectReader, chain: Chain): Promise<Set<string> | undefined> {
  const pairs = treePairs(await readHeads(objects, chain), chain);
  if (pairs === undefined) return undefined;
  const changed = new Set<string>();
  for (let at = 0; at < pairs.length; at += mostPairs) {
    const part = pairs.slice(at, at + mostPairs);
    if (!(await compareFolders(objects, { gitDir: chain.gitDir, pairs: part, changed }))) return undefined;
  }
  return changed;
}

interface Head {
  tree: string;
  parent: string | undefined;
}

async function readHeads(objects: ObjectReader, { gitDir, base, tips, commits }: Chain): Promise<Map<string, Head>> {
  const names = [...new Set([base, ...tips, ...commits])];
  const heads = new Map<string, Head>();
  await readObjects(objects, { gitDir, names, type: 'commit' }, (index, content) => {
    const head = /^tree ([0-9a-f]{40})\n(?:parent ([0-9a-f]{40})\n)?/.exec(content.toString('latin1', 0, 100));
    if (head?.[1] !== undefined) heads.set(names[index] ?? '', { tree: head[1], parent: head[2] });
  });
  return heads;
}

/** A folder before and after; undefined where there was or is none. */
interface Pair {
  path: string;
  old: string | undefined;
  now: string | undefined;
}

/** The trees of each commit and its first parent, from the tips to the base. */
function treePairs(heads: ReadonlyMap<string, Head>, { gitDir, base, tips }: Chain): Pair[] | undefined {
  const cut = shallowCommits(gitDir);
  const seen = new Set([base]);
  const pairs: Pair[] = [];
  for (const tip of tips) {
    for (let id = tip; !seen.has(id); ) {
      seen.add(id);
      const head = heads.get(id);
      const parent = head?.parent;
      const before = parent === undefined ? undefined : heads.get(parent);
      if (head === undefined || parent === undefined || before === undefined || cut.has(id)) return undefined;
      if (head.tree !== before.tree) pairs.push({ path: '', old: before.tree, now: head.tree });
      id = parent;
    }
  }
  return pairs;
}

/** git reads these as commits without parents. */
function shallowCommits(gitDir: string): Set<string> {
  try {
    return new Set(readFileSync(join(gitDir, 'shallow'), 'latin1').split('\n'));
  } catch (error) {
    unlessMissing(undefined)(error);
    return new Set();
  }
}

/** Adds the paths that differ, a level of folders at a time. @returns false where git has to compare */
async function compareFolders(
  objects: ObjectReader,
  { gitDir, changed, ...input }: { gitDir: string; pairs: readonly Pair[]; changed: Set<string> },
): Promise<boolean> {
  let entries = 0;
  for (let pairs = input.pairs; pairs.length > 0; ) {
    const names = [...new Set(pairs.flatMap(({ old, now }) => [old, now].filter((oid) => oid !== undefined)))];
    const folders = new Map<string, Map<string, TreeEntry>>();
    let isOdd = false;
    await readObjects(objects, { gitDir, names, type: 'tree' }, (index, content) => {
      const rows = parseTree(content);
      const byName = new Map(rows.map((entry) => [entry.name, entry]));
      entries += rows.length;
      isOdd ||= byName.size !== rows.length || entries > mostEntries;
      folders.set(names[index] ?? '', byName);
    });
    if (isOdd) return false;
    pairs = pairs.flatMap((pair) => comparePair(folders, pair, changed));
  }
  return true;
}

/** Adds the files of two folders that differ. @returns the folders below that differ */
function comparePair(
  folders: ReadonlyMap<string, ReadonlyMap<string, TreeEntry>>,
  { path, ...pair }: Pair,
  changed: Set<string>,
): Pair[] {
  const none: ReadonlyMap<string, TreeEntry> = new Map();
  const [before, after] = [folders.get(pair.old ?? '') ?? none, folders.get(pair.now ?? '') ?? none];
  const below: Pair[] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name), after.get(name)];
    if (old?.oid === now?.oid && old?.mode === now?.mode) continue;
    const at = `${path}${name}`;
    if ([old, now].some((entry) => entry !== undefined && entry.mode !== folderMode)) changed.add(at);
    const [oldFolder, nowFolder] = [folderOf(old), folderOf(now)];
    if (oldFolder !== nowFolder) below.push({ path: `${at}/`, old: oldFolder, now: nowFolder });
  }
  return below;
}

const folderOf = (entry: TreeEntry | undefined): string | undefined =>
  entry?.mode === folderMode ? entry.oid : undefined;
