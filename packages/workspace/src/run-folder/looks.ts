import type { RunFolder } from './run-folder.ts';

/** The last time at which this process compared all files of a tree with their snapshot, or stored the files in a snapshot. */
export interface Looks {
  /** @param tookMs duration of the look. @default the duration of the last look */
  looked(folder: RunFolder, tookMs?: number): void;
  /** Whether another program had time to change files since. */
  isDue(folder: RunFolder): boolean;
}

/** Changes of an editor or a script come later than this after a step, and a step of a plan comes sooner. */
const graceMs = 2000;
/** A look takes a twentieth of the time at most. */
const share = 20;
/** 1 MB. */
const mostTrees = 10_000;

/** @param now milliseconds of a clock that only goes forward */
export function createLooks(now: () => number): Looks {
  const trees = new Map<string, { at: number; tookMs: number }>();
  const keyOf = ({ path, epoch }: RunFolder): string => `${path}/${epoch}`;
  function looked(folder: RunFolder, tookMs = trees.get(keyOf(folder))?.tookMs ?? 0): void {
    trees.delete(keyOf(folder));
    trees.set(keyOf(folder), { at: now(), tookMs });
    const [oldest] = trees.keys();
    if (trees.size > mostTrees && oldest !== undefined) trees.delete(oldest);
  }
  return {
    looked,
    isDue(folder) {
      const last = trees.get(keyOf(folder));
      // This process made the tree, or has just adopted it.
      if (last === undefined) looked(folder);
      return last !== undefined && now() - last.at > Math.max(graceMs, share * last.tookMs);
    },
  };
}
