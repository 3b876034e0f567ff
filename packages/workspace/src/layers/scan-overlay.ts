import { lstatSync } from 'node:fs';
import { type Directory, fromPlain, join, namesIn, openChild, openTop, statIn } from '../files/index.ts';
import {
  countKnown,
  type Entry,
  type Folder,
  find,
  isFolder,
  isTooDeep,
  noteFolder,
  openReadable,
  type Permissions,
  reuseIfSame,
  type Scan,
  scanChildren,
  scanListedEntry,
} from '../tree/index.ts';
import type { Layer } from './layer.ts';

/** A tree that stands on a layer. */
export interface OverlayTree {
  /** The mounted tree. */
  readonly top: Directory;
  /** Host path of what the run wrote. */
  readonly upper: string;
  readonly layer: Layer;
  /** The files of the layer. */
  readonly base: Folder;
}

/**
 * Reads a whole tree like `scanChildren`, but looks only where the run wrote. Whatever has no name in the upper folder is what the layer
 * has; whatever has one is read through the mounted tree, so deletions and replaced folders need no extended attributes, which Node
 * cannot read.
 *
 * A folder that the run renamed has an upper folder too, whose other names come from another folder of the layer. They have other inodes
 * than the files of the layer at that path, so such a folder is read whole.
 */
export async function scanOverlay(scan: Scan, tree: OverlayTree, previous: Entry | undefined): Promise<Folder> {
  const { usual, others } = tree.layer.content.permissions;
  if (!isSameUsual(usual, scan.usual)) return scanChildren(scan, tree.top, '', previous);
  const walk: Walk = { scan, tree, met: new Set() };
  using upper = openTop(tree.upper);
  const root = await scanBoth(walk, { merged: tree.top, upper, path: '', base: tree.base }, previous);
  for (const [path, bits] of others) {
    if (!isMet(walk.met, path) && find(root, path.split('/')) !== undefined) scan.permissions.set(path, bits);
  }
  return root;
}

interface Walk {
  readonly scan: Scan;
  readonly tree: OverlayTree;
  /** Paths that were read, each with everything below it unless its folder was looked into here. */
  readonly met: Set<string>;
}

interface Both {
  readonly merged: Directory;
  readonly upper: Directory;
  readonly path: string;
  /** What the layer has at this path. */
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
    return scanChildren(scan, at.merged, at.path, previous);
  }
  const before = isFolder(previous) ? previous.entries : none;
  const entries = new Map<string, Entry>();
  for (const name of names) {
    const path = join(at.path, name);
    const below = at.base.entries.get(name);
    if (written.has(name) || below === undefined) {
      const entry = await scanWritten(walk, { ...at, name, path, below }, before.get(name));
      if (entry !== undefined) entries.set(name, entry);
    } else {
      countKnown(scan, countEntries(below));
      entries.set(name, below);
    }
    const pause = scan.maybeYield() ?? scan.content.backpressure();
    if (pause !== undefined) await pause;
  }
  return reuseIfSame(previous, entries);
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
  const isBoth = isFolder(below) && !scan.hides(name) && statIn(at.upper, name)?.isDirectory() === true;
  const status = isBoth ? statIn(at.merged, name) : undefined;
  const mayLook = isFolder(below) && status?.isDirectory() === true && !isTooDeep(path);
  using merged = mayLook ? openReadable({ directory: at.merged, name, path }) : undefined;
  if (!isFolder(below) || status === undefined || merged === undefined) {
    met.add(`${path}/`);
    return await scanListedEntry(scan, { name, path, open: () => at.merged }, previous);
  }
  noteFolder(scan, path, status);
  using upper = openChild(at.upper, name);
  // Awaited here, while both are open.
  return await scanBoth(walk, { merged, upper, path, base: below }, previous);
}

/**
 * Whether the names that the run did not write come from the folder of the layer at this path. All of them come from one folder, and no
 * two names of a layer have one inode, so one name decides.
 */
function standsOnLayer({ tree }: Walk, { merged, path }: Both, names: readonly string[]): boolean {
  const [name] = names;
  if (name === undefined) return true;
  const there = statIn(merged, name);
  const below = Buffer.from(`${fromPlain(tree.layer.root)}/${join(path, name)}`, 'latin1');
  return there !== undefined && there.ino === lstatSync(below, { bigint: true, throwIfNoEntry: false })?.ino;
}

function isMet(met: ReadonlySet<string>, path: string): boolean {
  if (met.has(path) || met.has('/')) return true;
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    if (met.has(`${path.slice(0, end)}/`)) return true;
  }
  return false;
}

const counts = new WeakMap<Folder, number>();

/** Files and folders of an entry, itself included. */
function countEntries(entry: Entry): number {
  if (!isFolder(entry)) return 1;
  const known = counts.get(entry);
  if (known !== undefined) return known;
  let count = 1;
  for (const below of entry.entries.values()) count += countEntries(below);
  counts.set(entry, count);
  return count;
}

const isSameUsual = (a: Permissions['usual'], b: Permissions['usual']): boolean =>
  a.file === b.file && a.executable === b.executable && a.folder === b.folder;
