export const layersSettings = ['auto', 'always', 'copy'] as const;

/** Wherever a trial mount works, `always` puts every tree on a layer, `auto` only trees with a gain. */
export type LayersSetting = (typeof layersSettings)[number];

/** The default of HOLDPOINT_LAYERS. */
export const defaultLayers: LayersSetting = 'auto';

/** Compared layers, by name and by the identity of their record. */
type CheckedLayers = Map<string, { readonly at: number; readonly why: Promise<string | undefined> }>;

/** Whether the trees of this host stand on layers. */
export interface Layers {
  /** Trees with fewer files are plain folders. */
  readonly leastFiles: number;
  /** The layers compared by this process with their lists. */
  readonly checked: CheckedLayers;
  /** Tries once per process. */
  usable(): Promise<boolean>;
  /** Why the trees are plain folders; undefined when they are not. */
  reason(): Promise<string | undefined>;
}
