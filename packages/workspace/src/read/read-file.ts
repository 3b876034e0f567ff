import type { Readable } from 'node:stream';
import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import { toText } from '../files/path-name.ts';
import type { FileEntry, SnapshotId } from '../port.ts';
import { runFolder } from '../run/run-folder.ts';
import { checkedPath } from './checked-path.ts';
import { listFiles } from './list-files.ts';
import { outputOf } from './output-of.ts';

/** One file of a snapshot, as it is; of a link, its target. */
export async function readSnapshotFile(
  deps: Deps,
  input: { runId: string; snapshot: SnapshotId; path: string },
): Promise<FileEntry & { content: Readable }> {
  const path = toText(checkedPath(input.path));
  const found = (await listFiles(deps, input)).find((file) => file.path === path);
  if (found === undefined) {
    throw new WorkspaceError('EPATHMISSING', `The snapshot has no file ${JSON.stringify(input.path)}.`);
  }
  const { shadow } = runFolder(deps.dataDir, input.runId);
  const start = () => {
    const git = deps.git.stream([`--git-dir=${shadow}`, 'cat-file', 'blob', found.oid]);
    git.stdin.on('error', () => {});
    git.stdin.end();
    return git;
  };
  return { ...found, content: outputOf(start) };
}
