/** The default of HOLDPOINT_LAYERS. */
export const defaultLayers = 'copy' satisfies Layers['setting'] as Layers['setting'];

/** Whether the trees of this host stand on layers. */
export interface Layers {
  /** As configured: `auto` uses layers wherever a trial mount works. */
  readonly setting: 'auto' | 'copy';
  /** Tries once per process. */
  usable(): Promise<boolean>;
  /** Why the trees are plain folders; undefined when they are not. */
  reason(): Promise<string | undefined>;
}
