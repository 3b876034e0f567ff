import type { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import { writeDurably } from '../files/write-durably.ts';
import { createObjectWriter } from '../git-objects/object-writer.ts';
import { shadowAttributes } from '../host-git/shadow.ts';
import type { SnapshotId } from '../port.ts';
import { runFolder } from '../run/run-folder.ts';
import { requireRecord } from '../run/workspace-record.ts';
import { loadSnapshot } from '../tree/load-snapshot.ts';
import { emptyFolder, type Folder, find, isLeaf, withEntry } from '../tree/tree.ts';
import { checkedPath } from './checked-path.ts';
import { outputOf } from './output-of.ts';

/**
 * Files of a snapshot as an archive. git makes it from the tree object; attributes, which could leave files out or change their content,
 * are switched off in the shadow repository, also in one that was made before this was known.
 */
export async function archiveFiles(
  deps: Deps,
  input: { runId: string; snapshot: SnapshotId; format: 'tar.gz' | 'zip'; paths?: readonly string[] },
): Promise<Readable> {
  const folder = runFolder(deps.dataDir, input.runId);
  requireRecord(folder);
  const state = deps.states.of(folder);
  const snapshot = await loadSnapshot(deps, { folder, state, id: input.snapshot });
  await writeDurably(`${folder.shadow}/info/attributes`, shadowAttributes, 0o644);
  let tree = snapshot.tree;
  if (input.paths !== undefined) {
    const writer = createObjectWriter({ gitDir: folder.shadow, known: state.known });
    tree = writer.root(onlyPaths(snapshot.root, input.paths));
    await writer.flush();
  }
  const format = input.format === 'zip' ? 'zip' : 'tar';
  const archive = outputOf(deps.git.stream([`--git-dir=${folder.shadow}`, 'archive', `--format=${format}`, tree]));
  if (input.format === 'zip') return archive;
  const packed = createGzip();
  archive.once('error', (error) => packed.destroy(error));
  packed.once('close', () => archive.destroy());
  return archive.pipe(packed);
}

function onlyPaths(root: Folder, paths: readonly string[]): Folder {
  let result = emptyFolder();
  for (const path of paths) {
    const names = checkedPath(path).split('/');
    const entry = find(root, names);
    if (!isLeaf(entry)) throw new WorkspaceError('EPATHMISSING', `The snapshot has no file ${JSON.stringify(path)}.`);
    result = withEntry(result, names, entry);
  }
  return result;
}
