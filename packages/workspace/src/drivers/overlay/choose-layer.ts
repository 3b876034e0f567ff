import type { Deps } from '../../deps.ts';
import { checkoutTree, contentOf, fileSystemClock, hashOnly, loadSnapshot, startScan } from '../../tree/index.ts';
import type { MakeInput } from '../port.ts';
import { beginLayer } from './build-layer.ts';
import { findLayer, takeLayer } from './find-layer.ts';
import type { Layer } from './layer.ts';
import { rememberRoot } from './layer-root.ts';
import { formerLayer, overlayOf, staysPlain } from './mounts.ts';

/**
 * The layer below a new tree at a snapshot; undefined when the trees of this host, or of this run, are plain folders. The layer of the
 * former tree, else the source's layer, else a layer made of the snapshot.
 */
export async function chooseLayer(deps: Deps, input: MakeInput): Promise<Layer | undefined> {
  const { folder, record, state, target, near } = input;
  if (staysPlain(folder) || !(await deps.sharing.usable())) return undefined;
  const name = near && formerLayer(overlayOf(near));
  const former = name === undefined ? undefined : await takeLayer(deps, name);
  if (former !== undefined) return former;
  const { tenant } = record;
  const base = record.base === target.id ? target : await loadSnapshot(deps, { folder, state, id: record.base });
  const content = contentOf(base);
  return (content && (await findLayer(deps, { ...content, tenant }))) ?? (await makeLayer(deps, input));
}

/** A run may have written the files, so only runs with the same base stand on the layer. */
async function makeLayer(deps: Deps, input: MakeInput): Promise<Layer | undefined> {
  const { folder, record, state, target, signal } = input;
  const { tenant } = record;
  const plain = contentOf(target);
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
