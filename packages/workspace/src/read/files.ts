import { Readable } from 'node:stream';
import type { UnknownContent } from '@holdpoint/contract';
import { type Call, type Deps, type FileEntry, type SnapshotId, WorkspaceError } from '../deps.ts';
import { type BytePath, fromText, isWithin, isWithinAny, toText } from '../files/index.ts';
import { readRows } from '../host-git/stream-blobs.ts';
import { isSameSkip, requireRecord, runFolder, type Skipped } from '../run-folder/index.ts';
import { assertSnapshot, type Manifest, readManifests } from '../tree/index.ts';

/** The paths whose content a snapshot could not hold, in byte order. */
export async function listUnknown(
  deps: Deps,
  { runId, snapshot, since, path }: Call<'unknown'>,
): Promise<UnknownContent[]> {
  requireRecord(runFolder(deps.dataDir, runId));
  const { skipped } = await manifestOf(deps, { runId, snapshot });
  const before = since === undefined ? undefined : (await manifestOf(deps, { runId, snapshot: since })).skipped;
  const at = path === undefined ? '' : checkedPath(path);
  return [...skipped]
    .filter(([name, skip]) => isWithin(name, at) && (before === undefined || !isSameSkip(before.get(name), skip)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, skip]) => unknownAt(name, skip));
}

export async function manifestOf(
  deps: Deps,
  { runId, snapshot }: { runId: string; snapshot: SnapshotId },
): Promise<Manifest> {
  const folder = runFolder(deps.dataDir, runId);
  assertSnapshot(folder, snapshot);
  const [manifest] = await readManifests(deps, { folder, state: deps.states.of(folder), ids: [snapshot] });
  if (manifest === undefined) throw new TypeError(`the snapshot ${snapshot} has no manifest`);
  return manifest;
}

const unknownAt = (path: string, { reason, bytes, mtime }: Skipped): UnknownContent => ({
  path: toText(path),
  reason,
  bytes,
  modified_at: modifiedAt(mtime) ?? null,
});

/** Undefined when unknown, or when a command set a time outside the range of dates. */
export function modifiedAt(mtime: string): string | undefined {
  const milliseconds = Number(BigInt(mtime) / 1_000_000n);
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  return mtime === '0' || !(year >= 0 && year <= 9999) ? undefined : date.toISOString();
}

/** Parses a path of the port. Paths only name entries of tree objects, so a path out of the tree is a mistake, not an attack. */
export function checkedPath(path: string): BytePath {
  const bytes = fromText(path);
  const names = bytes.split('/').filter((name) => name !== '' && name !== '.');
  if (bytes.startsWith('/') || bytes.includes('\0') || names.includes('..')) {
    throw new WorkspaceError('EPATHINVALID', `${JSON.stringify(path)} is not inside the workspace.`);
  }
  return names.join('/');
}

/** Reads a file of a snapshot; for a link, its target. */
export async function readSnapshotFile(deps: Deps, input: Call<'read'>): Promise<FileEntry & { content: Readable }> {
  const path = toText(checkedPath(input.path));
  const found = (await listFiles(deps, input)).find((file) => file.path === path);
  if (found === undefined) {
    const [unknown] = await listUnknown(deps, { ...input, path: '' }).then((all) =>
      all.filter((one) => isWithin(fromText(path), fromText(one.path))),
    );
    if (unknown !== undefined) throw unknownContent(unknown);
    throw new WorkspaceError('EPATHMISSING', `The snapshot has no file ${JSON.stringify(input.path)}.`);
  }
  const { shadow } = runFolder(deps.dataDir, input.runId);
  const start = () => {
    const git = deps.git.stream([`--git-dir=${shadow}`, 'cat-file', 'blob', found.oid]);
    git.stdin.on('error', () => {});
    git.stdin.end();
    return git;
  };
  return { ...found, content: lazyOutput(start) };
}

function unknownContent({ path, reason, bytes, modified_at }: UnknownContent): WorkspaceError {
  const when = modified_at === null ? '' : `, last written at ${modified_at}`;
  const text = `No snapshot holds the content of ${JSON.stringify(path)} (${reason}, ${bytes} bytes${when}).`;
  return new WorkspaceError('ECONTENTUNKNOWN', text);
}

/** The files whose content a snapshot holds, in byte order of their paths, at or below `path` if given. */
export async function listFiles(deps: Deps, { runId, snapshot, path }: Call<'files'>): Promise<FileEntry[]> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  assertSnapshot(folder, snapshot);
  const at = path === undefined ? '' : checkedPath(path);
  const args = [`--git-dir=${folder.shadow}`, 'ls-tree', '-r', '-l', '-z', '--full-tree', snapshot];
  // A path with unknown content may still have an older entry in the tree.
  const { skipped } = await manifestOf(deps, { runId, snapshot });
  const files: FileEntry[] = [];
  for await (const rows of readRows(deps.git, args)) {
    for (const row of rows) {
      const match = /^(\d{6}) blob ([0-9a-f]{40}) +(\d+)\t(.*)$/s.exec(row);
      if (match === null) continue;
      const [, mode = '', oid = '', bytes = '', name = ''] = match;
      const isShown = isWithin(name, at) && !isWithinAny(skipped, name);
      if (isShown) files.push({ path: toText(name), mode, oid, bytes: Number(bytes) });
    }
  }
  // git lists in byte order.
  return files;
}

/** A program with output. */
export interface Producer {
  stdout: NodeJS.ReadableStream;
  /** Rejects when the program fails. */
  done: Promise<unknown>;
  kill(): unknown;
}

/**
 * The output of a program started at the first read: an unread stream leaves nothing behind. The stream fails when the program fails, and
 * destroying the stream kills the program.
 */
export function lazyOutput(start: () => Promise<Producer> | Producer): Readable {
  let source: Producer | undefined;
  let asked = false;
  const begin = async (output: Readable): Promise<void> => {
    const begun = await start();
    begun.done.catch(() => {});
    if (output.destroyed) return void begun.kill();
    source = begun;
    const ended = new Promise<void>((resolve, reject) => {
      begun.stdout.once('end', resolve);
      begun.stdout.once('error', reject);
    });
    begun.stdout.on('data', (chunk: Uint8Array) => {
      if (!output.push(chunk)) begun.stdout.pause();
    });
    await Promise.all([begun.done, ended]);
    output.push(null);
  };
  return new Readable({
    read() {
      source?.stdout.resume();
      if (asked) return;
      asked = true;
      begin(this).catch((error: Error) => this.destroy(error));
    },
    destroy(error, callback) {
      source?.kill();
      callback(error);
    },
  });
}
