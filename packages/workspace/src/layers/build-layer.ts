import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Deps, errnoOf, WorkspaceError } from '../deps.ts';
import { removeFolder } from '../files/index.ts';
import { temporaryPath } from '../run-folder/index.ts';
import type { Folder } from '../store/objects/index.ts';
import { noteSound, soundLayer } from './check-layer.ts';
import {
  filesOf,
  type Layer,
  type LayerContent,
  type LayerCounts,
  layerFile,
  layerKey,
  layersFolder,
  layerText,
  readLayer,
  tenantFolder,
} from './layer.ts';
import { writeLayerList } from './layer-list.ts';

/** A layer in the making. Removed at the end of the scope unless placed. */
export interface LayerBuild {
  /** Empty folder for the files. */
  readonly root: string;
  /** Gives the layer its name. Returns the existing layer when another process was faster. */
  place(input: PlaceInput): Promise<Layer>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `root`: the content of the layer. */
type PlaceInput = LayerContent & { tenant: string | undefined; root: Folder; counts: LayerCounts };

/** Undefined when the trees of this host are plain folders. */
export async function beginLayer(deps: Deps): Promise<LayerBuild | undefined> {
  if (!(await deps.layers.usable())) return undefined;
  const aside = temporaryPath(deps, 'layer');
  const root = filesOf(aside);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  mkdirSync(root, { mode: 0o755 });
  return {
    root,
    place: (input) => place(deps, aside, input),
    [Symbol.asyncDispose]: () => removeFolder(aside),
  };
}

/** Not fsynced: until maintenance has done so, the layer is trusted in this boot only. */
async function place(deps: Deps, aside: string, { tenant, root, counts, ...content }: PlaceInput): Promise<Layer> {
  const name = `${tenantFolder(tenant)}/${layerKey(content)}`;
  const path = join(layersFolder(deps.dataDir), name);
  const list = await writeLayerList(aside, filesOf(aside), root);
  writeFileSync(layerFile(aside), layerText(content, { counts, list, boot: deps.holder.boot }), { mode: 0o600 });
  deps.onPoint('layer.filled');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (let round = 1; round <= maxRounds; round++) {
    const { layer: there } = await soundLayer(deps, name);
    if (there !== undefined) return there;
    try {
      renameSync(aside, path);
      noteSound(deps, name);
      deps.onPoint('layer.placed');
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
      // Another process may have placed this layer since the look: trees may stand on the layer already.
      if (readLayer(deps, name) === undefined) await removeDoubtful(deps, path);
    }
  }
  throw new WorkspaceError('EIO', `The layer ${path} could not be placed.`);
}

const maxRounds = 5;

/** Removes a layer of an earlier boot, possibly torn by a power failure. No tree of this boot stands on such a layer. */
async function removeDoubtful(deps: Deps, path: string): Promise<void> {
  const away = temporaryPath(deps, 'layer');
  try {
    renameSync(path, away);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return;
  }
  await removeFolder(away);
}
