import type { Source } from '@holdpoint/contract';
import type { Deps, ObjectWriter, Owner, Progress, RunFolder, SkippedPath } from '../deps.ts';
import { openChain, openTop } from '../files/index.ts';
import type { Skipped } from '../run-folder/index.ts';
import type { FoundSource } from '../source/git/repository.ts';
import type { SourcePool } from '../source/pool/source-pool.ts';
import { withEntry } from '../store/objects/index.ts';
import { scanChildren, scanEntry, startScan } from '../tree/index.ts';
import type { Copied } from './copy-directory.ts';

export interface Scanned extends Omit<Copied, 'unstored'> {
  readonly unstored: ReadonlyMap<string, Skipped>;
}

/** Reads the files left unstored by a copy: each is stored now, or the snapshot records the reason against its storage. */
export async function scanUnstored(
  deps: Deps,
  { fill, copied, to }: { fill: Fill; copied: Copied; to: string },
): Promise<Scanned> {
  const { unstored: paths, ...rest } = copied;
  if (paths.length === 0) return { ...rest, unstored: new Map() };
  const scan = startImportScan(deps, { fill, to });
  let { root } = copied;
  using top = openTop(to);
  for (const path of paths) {
    const names = path.split('/');
    const name = names.at(-1) ?? '';
    using directory = openChain(top, names.slice(0, -1));
    const entry = directory && (await scanEntry(scan, { directory, name, path }, undefined));
    if (entry !== undefined) root = withEntry(root, names, entry);
  }
  for (const [path, bits] of scan.permissions) copied.permissions.set(path, bits);
  return {
    ...{ ...rest, root, unstored: scan.skipped },
    ...{ files: copied.files + scan.seen.size, bytes: copied.bytes + scan.bytes },
  };
}

/** Reads a just written tree. */
export async function scanTree(deps: Deps, { fill, to }: { fill: Fill; to: string }): Promise<Scanned> {
  const scan = startImportScan(deps, { fill, to });
  using top = openTop(to);
  const root = await scanChildren(scan, top, '', undefined);
  const { permissions, skipped, seen, bytes } = scan;
  return { root, permissions, unstored: skipped, files: seen.size, bytes };
}

const startImportScan = (deps: Deps, { fill, to }: { fill: Fill; to: string }) =>
  startScan(deps, {
    folder: { ...fill.folder, tree: to },
    state: deps.states.of(fill.folder),
    content: fill.content,
    ...(fill.signal && { signal: fill.signal }),
  });

/** A source on its way to become the tree of a run. */
export interface Fill {
  readonly folder: RunFolder;
  readonly source: Source;
  readonly found: FoundSource;
  readonly tenant: string | undefined;
  readonly owner: Owner;
  /** Stores the objects of the files, and nothing else. */
  readonly content: ObjectWriter;
  /** Undefined: nothing of this source is kept for other runs. */
  readonly pool: SourcePool | undefined;
  readonly skipped: Map<string, SkippedPath['reason']>;
  readonly createdAt?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}
