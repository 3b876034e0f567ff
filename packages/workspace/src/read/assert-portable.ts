import { posix } from 'node:path';
import { type Deps, type RunFolder, WorkspaceError } from '../deps.ts';
import { toText } from '../files/index.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { changesBetween, type Folder, modes } from '../store/objects/index.ts';

/**
 * Refuses a ZIP whose files could be unpacked outside its folder: a backslash separates folders on Windows, so `..\\..\\x` leads out, and so
 * does a link with an absolute path or `..`. The `tar` of every system keeps both inside.
 */
export async function assertPortable(deps: Pick<Deps, 'git'>, folder: RunFolder, root: Folder): Promise<void> {
  const files = changesBetween(undefined, root);
  const named = files.find(({ path }) => /[\\]|^[A-Za-z]:/.test(path));
  if (named !== undefined) throw refusal(named.path, 'its name is another path on Windows');
  const links = files.flatMap((file) =>
    file.new?.mode === modes.symlink ? [{ path: file.path, oid: file.new.oid }] : [],
  );
  let at = 0;
  let target = '';
  await streamBlobs(
    deps,
    { gitDir: folder.shadow, oids: links.map(({ oid }) => oid) },
    {
      begin: (index) => {
        at = index;
        target = '';
      },
      piece: (bytes) => {
        target += Buffer.from(bytes).toString('latin1');
      },
      end: async () => {
        const path = links[at]?.path ?? '';
        if (leadsOut(path, target)) throw refusal(path, 'the link leads out of the archive');
      },
    },
  );
}

const leadsOut = (path: string, target: string): boolean =>
  /^[\\/]|^[A-Za-z]:/.test(target) || `${posix.normalize(posix.join(posix.dirname(path), target))}/`.startsWith('../');

const refusal = (path: string, why: string): WorkspaceError =>
  new WorkspaceError('EARCHIVEUNSAFE', `A ZIP cannot hold ${toText(path)}: ${why}.`);
