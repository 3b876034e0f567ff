import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Deps, WorkspaceError } from '../../deps.ts';
import { beginEntry, type EntryBuild } from '../../store/keyed/index.ts';
import type { Folder } from '../../store/objects/index.ts';
import { noteSound, soundLayer } from './check-layer.ts';
import * as layers from './layer.ts';
import { writeLayerList } from './layer-list.ts';

/** A layer in the making. Removed at the end of the scope unless placed. */
export interface LayerBuild {
  /** Empty folder for the files. */
  readonly root: string;
  /** Gives the layer its name. Returns the existing layer when another process was faster. */
  place(input: PlaceInput): Promise<layers.Layer>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `root`: the content of the layer. */
type PlaceInput = layers.LayerContent & { tenant: string | undefined; root: Folder; counts: layers.LayerCounts };

/** Undefined when the trees of this host are plain folders. */
export async function beginLayer(deps: Deps): Promise<LayerBuild | undefined> {
  if (!(await deps.sharing.usable())) return undefined;
  const build = beginEntry(deps, layers.layerKind);
  const root = layers.filesOf(build.path);
  mkdirSync(root, { mode: 0o755 });
  return {
    root,
    place: (input) => place(deps, build, input),
    [Symbol.asyncDispose]: () => build[Symbol.asyncDispose](),
  };
}

/** Not fsynced: until maintenance has done so, the layer is trusted in this boot only. */
async function place(deps: Deps, build: EntryBuild, input: PlaceInput): Promise<layers.Layer> {
  const { tenant, root, counts, ...content } = input;
  const name = `${layers.tenantFolder(tenant)}/${layers.layerKey(content)}`;
  const path = join(layers.layersFolder(deps.dataDir), name);
  const list = await writeLayerList(build.path, layers.filesOf(build.path), root);
  writeFileSync(layers.layerFile(build.path), layers.layerText(content, { counts, list, boot: deps.holder.boot }), {
    mode: 0o600,
  });
  let layer: layers.Layer | undefined;
  const isPlaced = await build.place(path, {
    isSound: async () => {
      ({ layer } = await soundLayer(deps, name));
      return layer !== undefined;
    },
    // A layer of an earlier boot, possibly torn by a power failure. No tree of this boot stands on such a layer.
    isTorn: () => layers.readLayer(deps, name) === undefined,
  });
  if (isPlaced) layer = noteSound(deps, name);
  if (layer === undefined) throw new WorkspaceError('EIO', `The layer ${path} could not be placed.`);
  return layer;
}
