export const treesSettings = ['auto', 'always', 'copy'] as const;

/** Wherever the host can, `always` lets every tree share files with other trees, `auto` only trees with a gain. */
export type TreesSetting = (typeof treesSettings)[number];

/** The default of HOLDPOINT_LAYERS. */
export const defaultTrees: TreesSetting = 'auto';

/** Whether the trees of this host share files. */
export interface Sharing {
  /** Trees with fewer files are plain folders. */
  readonly leastFiles: number;
  /** Tries once per process. */
  usable(): Promise<boolean>;
  /** Why the trees are plain folders; undefined when they are not. */
  reason(): Promise<string | undefined>;
}
