import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Deps, RunFolder } from '../../deps.ts';
import { fromText, toText } from '../../files/index.ts';
import { folderOfKind, type Kind } from '../../store/keyed/index.ts';
import type { Folder } from '../../store/objects/index.ts';
import { addEmptyFolder, loadTree, type SnapshotCache, type TreeContent } from '../../tree/index.ts';
import type { LayerList } from './layer-list.ts';

/**
 * A layer holds the files of a tree, without `.git` entries. Nothing changes a layer with a name, so the trees of many runs of a tenant
 * share the layer. Its files belong to the user of the worker; a mount shows each run its own uid.
 */
export interface Layer {
  /** `<tenant>/<key>`: its folder below `layers/`. */
  readonly name: string;
  readonly path: string;
  /** The files. */
  readonly root: string;
  readonly content: LayerContent;
  readonly counts: LayerCounts;
  readonly list: LayerList;
  /** Differs between two successive layers of the same name. */
  readonly identity: string;
}

/** The content behind a layer's key: equal content has an equal key. */
export interface LayerContent extends TreeContent {
  /** Only trees with the same text may stand on the layer: set when a run wrote its files. */
  readonly salt?: string | undefined;
}

export interface LayerCounts {
  /** Regular files. */
  readonly files: number;
  /** Bytes of these files. */
  readonly bytes: number;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const bits = z.int().min(0).max(0o777);
const recordSchema = z.strictObject({
  format: z.literal(1),
  tree: z.string().regex(/^[0-9a-f]{40}$/),
  usual: z.strictObject({ file: bits, executable: bits, folder: bits }),
  others: z.array(z.tuple([z.string(), bits])),
  empty: z.array(z.string()),
  salt: z.string().optional(),
  files: z.int(),
  bytes: z.int(),
  /** Absent in layers of earlier versions. Such layers are made again. */
  list: z.strictObject({ status: sha256, file: sha256 }).optional(),
  /** The boot of the machine during the write of the files. */
  boot: z.string(),
});

/** A digest of the content. */
export function layerKey(content: LayerContent): string {
  const { tree, usual, others, empty, salt } = toRecord(content);
  return createHash('sha256')
    .update(JSON.stringify([tree, usual, others, empty, salt ?? '']))
    .digest('hex');
}

/** No two tenants have a folder in common. */
export const tenantFolder = (tenant: string | undefined): string =>
  createHash('sha256')
    .update(tenant ?? '')
    .digest('hex')
    .slice(0, 32);

export const layerKind: Kind = { name: 'layer', folder: 'layers', groups: 1, mark: 'layer.json', isSynced: false };
export const layersFolder = (dataDir: string): string => folderOfKind(dataDir, layerKind);
export const filesOf = (path: string): string => join(path, 'files');
export const layerFile = (path: string): string => join(path, 'layer.json');
/** Exists when all files of the layer are on disk. */
export const syncedMark = (path: string): string => join(path, 'synced');

export function layerText(content: LayerContent, made: { counts: LayerCounts; list: LayerList; boot: string }): string {
  const { counts, list, boot } = made;
  return JSON.stringify(recordSchema.parse({ format: 1, ...toRecord(content), ...counts, list, boot }));
}

/**
 * Reads the record of a layer; undefined without a record, or without a trustworthy record: files of an earlier boot may be torn by a power
 * failure unless they were synced. `soundLayer` checks the files.
 */
export function readLayer(deps: Pick<Deps, 'dataDir' | 'holder'>, name: string): Layer | undefined {
  const path = join(layersFolder(deps.dataDir), name);
  let record: z.infer<typeof recordSchema>;
  let identity: string;
  try {
    const { ino, birthtimeNs } = statSync(layerFile(path), { bigint: true });
    identity = `${ino} ${birthtimeNs}`;
    record = recordSchema.parse(JSON.parse(readFileSync(layerFile(path), 'utf8')));
  } catch {
    return undefined;
  }
  if (record.boot !== deps.holder.boot && !existsSync(syncedMark(path))) return undefined;
  const { tree, usual, others, empty, salt, files, bytes, list } = record;
  if (list === undefined) return undefined;
  const permissions = { usual, others: new Map(others.map(([at, mode]) => [fromText(at), mode])) };
  const content = { tree, permissions, empty: empty.map(fromText), salt };
  // A record with another key than the layer's name is damaged.
  if (layerKey(content) !== basename(name)) return undefined;
  return { name, path, root: filesOf(path), counts: { files, bytes }, content, list, identity };
}

function toRecord({ tree, permissions, empty, salt }: LayerContent) {
  const others = [...permissions.others].map(([path, mode]): [string, number] => [toText(path), mode]);
  others.sort(([a], [b]) => (a < b ? -1 : 1));
  return { tree, usual: permissions.usual, others, empty: empty.map(toText), salt };
}

/** The layers used last in this process: a tree of 10,000 files takes 3 MB. */
const maxRoots = 4;
const roots = new Map<string, Folder>();

/** The files of a layer, as git trees. The repository of every run with this layer has them. */
export async function layerRoot(
  deps: Pick<Deps, 'git'>,
  { folder, state, layer }: { folder: RunFolder; state: SnapshotCache; layer: Layer },
): Promise<Folder> {
  const root = roots.get(layer.path) ?? (await load(deps, { folder, state, layer }));
  roots.delete(layer.path);
  roots.set(layer.path, root);
  for (const oldest of roots.keys()) {
    if (roots.size <= maxRoots) break;
    roots.delete(oldest);
  }
  return root;
}

/** Keeps the tree of a layer just made by this process. */
export function rememberRoot({ path }: Layer, root: Folder): void {
  roots.set(path, root);
}

async function load(
  deps: Pick<Deps, 'git'>,
  { folder, state, layer }: { folder: RunFolder; state: SnapshotCache; layer: Layer },
): Promise<Folder> {
  const { tree, empty } = layer.content;
  const { root } = await loadTree(deps, { folder, state, treeish: tree });
  for (const path of empty) addEmptyFolder(root, path.split('/'));
  return root;
}
