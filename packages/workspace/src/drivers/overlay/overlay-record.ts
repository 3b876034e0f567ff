import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { readJson } from '../../files/index.ts';
import type { RunFolder } from '../../run-folder/run-folder.ts';
import type { TreePath } from '../port.ts';

/** The layer below a tree of a run. In the folder of the overlay, next to `upper` and `work`. */
const overlaySchema = z.strictObject({
  format: z.literal(1),
  /** Folder of the layer below `layers/`. */
  layer: z.string().regex(/^[0-9a-f]{32}\/[0-9a-f]{64}$/),
  /** Its git tree, contained in the run's repository. */
  tree: z.string().regex(/^[0-9a-f]{40}$/),
  /** The status of its list: a new layer under the same name has another status. */
  list: z.string().optional(),
});
export type OverlayRecord = z.infer<typeof overlaySchema>;

/** The folder with the run's writes. Trees in the making and out of use have theirs next to them. */
export function overlayOf({ tree }: TreePath): string {
  const above = dirname(tree);
  return basename(above) === 'trees' ? join(dirname(above), 'overlays', basename(tree)) : `${tree}.overlay`;
}

export const overlayFile = (overlay: string): string => join(overlay, 'overlay.json');

/** Undefined for a plain folder. */
export const readOverlay = (tree: TreePath): OverlayRecord | undefined => readRecord(overlayOf(tree));

const readRecord = (overlay: string): OverlayRecord | undefined => readJson(overlayFile(overlay), overlaySchema);

/** The name of the former layer below the tree of an overlay, if its record is readable. */
export function formerLayer(overlay: string): string | undefined {
  try {
    return readRecord(overlay)?.layer;
  } catch {
    // Torn by a power failure.
    return undefined;
  }
}

export const overlayText = (record: OverlayRecord): string => JSON.stringify(overlaySchema.parse(record));

/** Exists when every later tree of the run is to be a plain folder. */
const plainMark = ({ path }: Pick<RunFolder, 'path'>): string => join(path, 'plain-trees');
export const staysPlain = (folder: Pick<RunFolder, 'path'>): boolean => existsSync(plainMark(folder));
export const keepPlain = (folder: Pick<RunFolder, 'path'>): void => {
  writeFileSync(plainMark(folder), '', { mode: 0o600 });
};

export const upperOf = (tree: TreePath): string => join(overlayOf(tree), 'upper');
export const workOf = (tree: TreePath): string => join(overlayOf(tree), 'work');
