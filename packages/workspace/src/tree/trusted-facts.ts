import { statfsSync } from 'node:fs';
import type { RunFolder } from '../run/run-folder.ts';
import type { StatCache } from './stat-cache.ts';

/*
 * A program that has a file mapped writes to it without a system call. The kernel then changes the file's times at the first write to a page
 * that it holds as clean, and not again until the page was written out: so the status of a file says nothing about its content while a mapping
 * of it may live. A status that was seen while no command ran is different: a program that maps the file later makes a first write.
 */

/**
 * What is known of the files of a tree, for one walk.
 * @param learns whether nothing runs that may have a file mapped. Otherwise the walk uses what was known before, and adds nothing to it
 */
export function factsFor(folder: Pick<RunFolder, 'tree'>, stats: StatCache, learns: boolean): StatCache {
  if (!tellsOfMappedWrites(folder.tree)) return nothingKnown(stats);
  return learns ? stats : { ...stats, learn: () => {} };
}

/** Each file is read again. Names in folders do not depend on mappings. */
const nothingKnown = (stats: StatCache): StatCache => ({
  ...stats,
  knows: () => false,
  lookup: () => undefined,
  learn: () => {},
});

/** Magic numbers of statfs(2): tmpfs, ramfs and hugetlbfs. */
const inMemory: readonly number[] = [0x01021994, 0x858458f6, 0x958458f6];

/**
 * File systems in memory never write a page out, and let a page that was only read be written through its mapping without a fault: no time
 * changes at all, also not for a command that runs alone. Measured on Linux 6.18: tmpfs no, ext4 and overlayfs yes.
 */
const tellsOfMappedWrites = (tree: string): boolean => !inMemory.includes(statfsSync(tree).type);
