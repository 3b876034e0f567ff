import type { Deps, RunFolder, WorkspaceRecord } from '../deps.ts';
import {
  beginLayer,
  findLayer,
  type Layer,
  layerContent,
  rememberRoot,
  staysPlain,
  takeLayer,
} from '../layers/index.ts';
import { startScan } from '../snapshots/snapshot.ts';
import {
  checkoutTree,
  fileSystemClock,
  hashOnly,
  type LoadedSnapshot,
  loadSnapshot,
  type RunState,
} from '../tree/index.ts';

interface Input {
  /** Its repository has the snapshot. */
  folder: RunFolder;
  record: Pick<WorkspaceRecord, 'base' | 'tenant'>;
  state: RunState;
  target: LoadedSnapshot;
  /** The layer of another tree with almost the same files. */
  near: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The layer below a new tree at a snapshot; undefined when the trees of this host, or of this run, are plain folders. The layer of the
 * former tree, else the source's layer, else a layer made of the snapshot.
 */
export async function chooseLayer(deps: Deps, input: Input): Promise<Layer | undefined> {
  const { folder, record, state, target, near } = input;
  if (staysPlain(folder) || !(await deps.layers.usable())) return undefined;
  const former = near === undefined ? undefined : await takeLayer(deps, near);
  if (former !== undefined) return former;
  const { tenant } = record;
  const base = record.base === target.id ? target : await loadSnapshot(deps, { folder, state, id: record.base });
  const content = layerContent(base);
  return (content && (await findLayer(deps, { ...content, tenant }))) ?? (await makeLayer(deps, input));
}

/** A run may have written the files, so only runs with the same base stand on the layer. */
async function makeLayer(deps: Deps, input: Input): Promise<Layer | undefined> {
  const { folder, record, state, target, signal } = input;
  const { tenant } = record;
  const plain = layerContent(target);
  if (plain === undefined) return undefined;
  const content = { ...plain, tenant, salt: record.base };
  const there = await findLayer(deps, content);
  if (there !== undefined) return there;
  await using build = await beginLayer(deps);
  if (build === undefined) return undefined;
  const counts = { files: 0, bytes: 0 };
  const at = { ...folder, tree: build.root };
  await checkoutTree(
    {
      ...{ git: deps.git, scan: startScan(deps, { folder: at, state, content: hashOnly, learn: false, signal }) },
      ...{ gitDir: folder.shadow, tree: build.root, owner: undefined, keep: () => false, signal },
      clock: () => fileSystemClock(folder),
      permissions: target.manifest.permissions,
      onWritten: (bytes) => {
        counts.files += 1;
        counts.bytes += bytes;
      },
    },
    target.root,
  );
  const layer = await build.place({ ...content, root: target.root, counts });
  rememberRoot(layer, target.root);
  return layer;
}
