import { toText } from '../../files/index.ts';
import { type Folder, find, isFolder, type Leaf, modes } from '../../store/objects/index.ts';
import type { MergeDriver } from './merge-drivers.ts';
import type { ThreeWay, UnmergedPath } from './merge-folders.ts';

/** Names of the two sides in the middle of a sentence. */
export type Sides = Record<'source' | 'run', string>;

interface Context extends ThreeWay<Folder> {
  sides: Sides;
  /** New path by old path, for files moved by a side. */
  moves: Record<keyof Sides, ReadonlyMap<string, string>>;
  /** By path. */
  drivers: ReadonlyMap<string, MergeDriver>;
}

/** Explains a conflict: the side with the deletion, change or addition of the file. */
export function describeConflict(context: Context, open: UnmergedPath): string {
  const sentence = reasonOf(context, open);
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function reasonOf({ sides, moves, drivers, ...trees }: Context, { path, base, source, run }: UnmergedPath): string {
  const isFolderIn = (root: Folder) => isFolder(find(root, path.split('/')));
  const movedBy = (side: keyof Sides) => {
    const to = moves[side].get(path);
    return to === undefined ? '' : ` It was probably moved to ${toText(to)}.`;
  };
  if (isFolderIn(trees.source)) return `${sides.source} has a folder here, and ${sides.run} a file.`;
  if (isFolderIn(trees.run)) return `${sides.run} has a folder here, and ${sides.source} a file.`;
  if (source === null) return `${sides.source} deleted this file, and ${sides.run} changed it.${movedBy('source')}`;
  if (run === null) return `${sides.source} changed this file, and ${sides.run} deleted it.${movedBy('run')}`;
  if (base === null) return `${sides.source} has a file here that ${sides.run} did not start from.`;
  const isLink = (leaf: Leaf) => leaf.mode === modes.symlink;
  if (isLink(source) !== isLink(run)) {
    return `one side (${sides.source} or ${sides.run}) has a symbolic link here, the other a file.`;
  }
  const driver = drivers.get(path);
  if (driver?.kind === 'none') return `${sides.source} and ${sides.run} changed this file. ${driver.detail}`;
  return `${sides.source} and ${sides.run} changed this file in conflicting ways.`;
}
