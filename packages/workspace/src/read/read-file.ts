import type { Readable } from 'node:stream';
import type { UnknownContent } from '@holdpoint/contract';
import { type Call, type Deps, type FileEntry, WorkspaceError } from '../deps.ts';
import { fromText, isWithin, toText } from '../files/index.ts';
import { runFolder } from '../run-folder/index.ts';
import { lazyOutput } from './lazy-output.ts';
import { listFiles } from './list-files.ts';
import { checkedPath, listUnknown } from './list-unknown.ts';

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
