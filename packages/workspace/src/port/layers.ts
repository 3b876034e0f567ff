export const layersSettings = ['auto', 'always', 'copy'] as const;

/** Wherever a trial mount works, `always` puts every tree on a layer, `auto` only trees with a gain. */
export type LayersSetting = (typeof layersSettings)[number];

/** The default of HOLDPOINT_LAYERS. */
export const defaultLayers: LayersSetting = 'auto';

/** Whether the trees of this host stand on layers. */
export interface Layers {
  /** Trees with fewer files are plain folders. */
  readonly leastFiles: number;
  /** Tries once per process. */
  usable(): Promise<boolean>;
  /** Why the trees are plain folders; undefined when they are not. */
  reason(): Promise<string | undefined>;
}
