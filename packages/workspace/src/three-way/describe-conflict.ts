import { toText } from '../files/path-name.ts';
import { type Folder, find, isFolder, type Leaf, modes } from '../tree/tree.ts';
import type { MergeDriver } from './merge-drivers.ts';
import type { Open, Three } from './merge-folders.ts';

/** What the two sides are called in the middle of a sentence. */
export type Sides = Record<'source' | 'run', string>;

interface Context extends Three<Folder> {
  sides: Sides;
  /** Where files of a side went to, new path by old path. */
  moves: Record<keyof Sides, ReadonlyMap<string, string>>;
  /** By path. */
  drivers: ReadonlyMap<string, MergeDriver>;
}

/** Why a path is in conflict: which side deleted, changed or added what. */
export function describeConflict(context: Context, open: Open): string {
  const sentence = reasonOf(context, open);
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function reasonOf({ sides, moves, drivers, ...trees }: Context, { path, base, source, run }: Open): string {
  const isFolderIn = (root: Folder) => isFolder(find(root, path.split('/')));
  const movedBy = (side: keyof Sides) => {
    const to = moves[side].get(path);
    return to === undefined ? '' : ` It was probably moved to ${toText(to)}.`;
  };
  if (isFolderIn(trees.source)) return `${sides.source} has a folder here, and ${sides.run} a file.`;
  if (isFolderIn(trees.run)) return `${sides.run} has a folder here, and ${sides.source} a file.`;
  if (source === null) return `${sides.source} deleted this file, and ${sides.run} changed it.${movedBy('source')}`;
  if (run === null) return `${sides.source} changed this file, and ${sides.run} deleted it.${movedBy('run')}`;
  if (base === null) return `${sides.source} has a file here that ${sides.run} did not begin with.`;
  const isLink = (leaf: Leaf) => leaf.mode === modes.symlink;
  if (isLink(source) !== isLink(run)) {
    return `one of ${sides.source} and ${sides.run} has a symbolic link here, the other a file.`;
  }
  const driver = drivers.get(path);
  if (driver?.kind === 'none') return `${sides.source} and ${sides.run} changed this file. ${driver.detail}`;
  return `${sides.source} and ${sides.run} changed this file in ways that do not fit together.`;
}
