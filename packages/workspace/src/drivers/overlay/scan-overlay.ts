import { type BigIntStats, lstatSync } from 'node:fs';
import { errnoOf } from '../../errors.ts';
import { type Directory, fromPlain, join, namesIn, openChild, openTop, statIn } from '../../files/index.ts';
import { type Entry, type Folder, find, isFolder, reuseIfSame } from '../../store/objects/index.ts';
import * as trees from '../../tree/index.ts';
import type { Layer } from './layer.ts';

/** A tree on a layer. */
export interface OverlayTree {
  /** The mounted tree. */
  readonly top: Directory;
  /** Host path of the run's writes. */
  readonly upper: string;
  readonly layer: Layer;
  /** The files of the layer. */
  readonly base: Folder;
  /** Receives paths lost or gained by the layer. */
  readonly damaged: Set<string>;
}

/**
 * Reads a whole tree like `scanChildren`, but looks only at the run's writes. A name missing in the upper folder is unchanged from the layer;
 * a name in the upper folder is read through the mounted tree. So deletions and replaced folders need no extended attributes, unreadable for
 * Node.
 *
 * A folder renamed by the run has an upper folder too, but its other names come from another folder of the layer. These names have other
 * inodes than the files of the layer at the same path, so such a folder is read whole.
 */
export async function scanOverlay(scan: trees.Scan, tree: OverlayTree, previous: Entry | undefined): Promise<Folder> {
  const { usual, others } = tree.layer.content.permissions;
  if (!isSameUsual(usual, scan.usual)) return trees.scanChildren(scan, tree.top, '', previous);
  const walk: Walk = { scan, tree, met: new Set() };
  using upper = openTop(tree.upper);
  const root = await scanBoth(walk, { merged: tree.top, upper, path: '', base: tree.base }, previous);
  for (const [path, bits] of others) {
    if (!isMet(walk.met, path) && find(root, path.split('/')) !== undefined) scan.permissions.set(path, bits);
  }
  return root;
}

interface Walk {
  readonly scan: trees.Scan;
  readonly tree: OverlayTree;
  /** Read paths, each with everything below unless its folder was searched here. */
  readonly met: Set<string>;
}

interface Both {
  readonly merged: Directory;
  readonly upper: Directory;
  readonly path: string;
  /** The layer's content at this path. */
  readonly base: Folder;
}

async function scanBoth(walk: Walk, at: Both, previous: Entry | undefined): Promise<Folder> {
  const { scan } = walk;
  const names = namesIn(at.merged);
  const written = new Set(namesIn(at.upper));
  if (
    !standsOnLayer(
      walk,
      at,
      names.filter((name) => !written.has(name)),
    )
  ) {
    walk.met.add(`${at.path}/`);
    return trees.scanChildren(scan, at.merged, at.path, previous);
  }
  const before = isFolder(previous) ? previous.entries : none;
  const entries = new Map<string, Entry>();
  for (const name of names) {
    const path = join(at.path, name);
    const below = at.base.entries.get(name);
    if (below === undefined && !written.has(name) && !scan.hides(name) && statInLayer(walk, path) !== undefined) {
      walk.tree.damaged.add(path);
      continue;
    }
    if (written.has(name) || below === undefined) {
      const entry = await scanWritten(walk, { ...at, name, path, below }, before.get(name));
      if (entry !== undefined) entries.set(name, entry);
    } else {
      trees.countKnown(scan, countEntries(below));
      entries.set(name, below);
    }
    const pause = scan.maybeYield() ?? scan.content.backpressure();
    if (pause !== undefined) await pause;
  }
  for (const [name, below] of await lostEntries(walk, at, { names, written, before })) {
    trees.countKnown(scan, countEntries(below));
    entries.set(name, below);
  }
  return reuseIfSame(previous, entries);
}

/**
 * Entries lost by the layer since its creation. A run removes a name by an entry in the upper folder, or with its whole folder, and then
 * the layer still has the name. The layer may have lost files of a folder before the run removed or moved that folder.
 */
async function lostEntries(
  walk: Walk,
  at: Both,
  seen: { names: readonly string[]; written: ReadonlySet<string>; before: ReadonlyMap<string, Entry> },
): Promise<[string, Entry][]> {
  const there = new Set(seen.names);
  const lost: [string, Entry][] = [];
  for (const [name, below] of at.base.entries) {
    if (there.has(name) || (seen.written.has(name) && !seen.before.has(name))) continue;
    const entry = await lostFrom(walk, join(at.path, name), below);
    if (entry !== undefined) lost.push([name, entry]);
  }
  return lost;
}

/** The lost part of a layer's entry; undefined when nothing is lost. */
async function lostFrom(walk: Walk, path: string, entry: Entry): Promise<Entry | undefined> {
  if (statInLayer(walk, path)?.isDirectory() !== isFolder(entry)) {
    walk.tree.damaged.add(path);
    return entry;
  }
  if (!isFolder(entry)) return undefined;
  const lost = new Map<string, Entry>();
  for (const [name, below] of entry.entries) {
    const one = await lostFrom(walk, join(path, name), below);
    if (one !== undefined) lost.set(name, one);
    const pause = walk.scan.maybeYield();
    if (pause !== undefined) await pause;
  }
  return lost.size === 0 ? undefined : { entries: lost };
}

const none: ReadonlyMap<string, Entry> = new Map();

async function scanWritten(
  walk: Walk,
  at: Both & { name: string; below: Entry | undefined },
  previous: Entry | undefined,
): Promise<Entry | undefined> {
  const { scan, met } = walk;
  const { name, path, below } = at;
  met.add(path);
  const base = isFolder(below) ? below : folderOfDamage(walk, path);
  const isBoth = base !== undefined && !scan.hides(name) && statIn(at.upper, name)?.isDirectory() === true;
  const status = isBoth ? statIn(at.merged, name) : undefined;
  const mayLook = base !== undefined && status?.isDirectory() === true && !trees.isTooDeep(path);
  using merged = mayLook ? trees.openReadable({ directory: at.merged, name, path }) : undefined;
  if (base === undefined || status === undefined || merged === undefined) {
    met.add(`${path}/`);
    return await trees.scanListedEntry(scan, { name, path, open: () => at.merged }, previous);
  }
  trees.noteFolder(scan, path, status);
  using upper = openChild(at.upper, name);
  // Awaited here, while both are open.
  return await scanBoth(walk, { merged, upper, path, base }, previous);
}

/** A layer with a folder unknown to its list: the run wrote the names in the upper folder, and nothing else. */
function folderOfDamage(walk: Walk, path: string): Folder | undefined {
  if (statInLayer(walk, path)?.isDirectory() !== true) return undefined;
  walk.tree.damaged.add(path);
  return { entries: new Map() };
}

/**
 * Whether the names not written by the run come from the folder of the layer at this path. All of them come from the same folder, and no
 * two names of a layer share an inode, so a single name decides.
 */
function standsOnLayer({ tree }: Walk, { merged, path }: Both, names: readonly string[]): boolean {
  const [name] = names;
  if (name === undefined) return true;
  const there = statIn(merged, name);
  return there !== undefined && there.ino === statInLayer({ tree }, join(path, name))?.ino;
}

function statInLayer({ tree }: Pick<Walk, 'tree'>, path: string): BigIntStats | undefined {
  const at = Buffer.from(`${fromPlain(tree.layer.root)}/${path}`, 'latin1');
  try {
    return lstatSync(at, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    // A folder above is no folder any more.
    if (errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

function isMet(met: ReadonlySet<string>, path: string): boolean {
  if (met.has(path) || met.has('/')) return true;
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    if (met.has(`${path.slice(0, end)}/`)) return true;
  }
  return false;
}

const counts = new WeakMap<Folder, number>();

/** Files and folders of an entry, the entry included. */
function countEntries(entry: Entry): number {
  if (!isFolder(entry)) return 1;
  const known = counts.get(entry);
  if (known !== undefined) return known;
  let count = 1;
  for (const below of entry.entries.values()) count += countEntries(below);
  counts.set(entry, count);
  return count;
}

const isSameUsual = (a: trees.Permissions['usual'], b: trees.Permissions['usual']): boolean =>
  a.file === b.file && a.executable === b.executable && a.folder === b.folder;
