import { fstatSync, lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFolder } from '@holdpoint/contract';
import type { Bounds, OpenPath } from '../bounds/bounds.ts';
import { type Directory, isDotGit, openChain, openTop } from '../files/index.ts';
import { mountPointsIn } from '../layers/index.ts';
import { errnoOf, WorkspaceError } from '../port.ts';

type JudgeDeps = { bounds: Bounds };

/** Where a folder is: below which real path of a source, and at which relative path. */
export interface FolderPlace {
  top: string;
  path: string;
}

/** An open folder of a source that runs may see. */
export interface OpenFolder extends Disposable {
  folder: SourceFolder;
  opened: OpenPath;
}

/**
 * Opens a folder of a source without following any link, and judges what it opened: its bounds, and those of everything that is mounted
 * below it. A path that is exchanged afterwards has another identity.
 * @throws WorkspaceError ESOURCEFOLDER, or that of the bounds
 */
export function openFolder({ bounds }: JudgeDeps, place: FolderPlace): OpenFolder {
  using found = openWithoutLinks(place);
  const opened = bounds.open(found.self.toString(), 'source');
  try {
    const host = join(place.top, place.path);
    if (opened.real !== host) throw refuse(place, `leads to ${opened.real}`);
    for (const point of mountPointsOf(host)) if (point !== host) bounds.assert(point, 'source');
    const folder = { path: place.path, host, identity: identityOf(found.fd) };
    return { folder, opened, [Symbol.dispose]: () => opened[Symbol.dispose]() };
  } catch (error) {
    opened[Symbol.dispose]();
    throw error;
  }
}

/** How long a judgement holds for the same folder at the same real path: a whole one takes 1 ms, and each call of a run asks. */
const judgedMs = 10_000;
const judged = new WeakMap<Bounds, Map<string, { identity: string; until: number }>>();

/** Like `openFolder`, for a folder that stays closed. What was judged a moment ago, and is the same one, is not judged again. */
export function judgeFolder(deps: JudgeDeps, place: FolderPlace): SourceFolder {
  const host = join(place.top, place.path);
  const known = judged.get(deps.bounds) ?? new Map<string, { identity: string; until: number }>();
  judged.set(deps.bounds, known);
  {
    using found = openWithoutLinks(place);
    const identity = identityOf(found.fd);
    const last = known.get(host);
    if (last?.identity === identity && performance.now() < last.until && realpathSync(found.self) === host) {
      return { path: place.path, host, identity };
    }
  }
  using opened = openFolder(deps, place);
  known.set(host, { identity: opened.folder.identity, until: performance.now() + judgedMs });
  return opened.folder;
}

function identityOf(fd: number): string {
  const { dev, ino, birthtimeNs } = fstatSync(fd, { bigint: true });
  return [dev, ino, birthtimeNs].join();
}

export const refuse = ({ path }: Pick<FolderPlace, 'path'>, why: string): WorkspaceError =>
  new WorkspaceError('ESOURCEFOLDER', `${path} ${why}.`);

const mountPointsOf = (path: string): string[] => (process.platform === 'linux' ? mountPointsIn(path) : []);

function openWithoutLinks(place: FolderPlace): Directory {
  const names = place.path.split('/');
  if (names.some(isDotGit)) throw refuse(place, 'is a repository');
  try {
    using top = openTop(place.top);
    const found = openChain(top, names);
    if (found !== undefined) return found;
  } catch (cause) {
    throw new WorkspaceError('ESOURCEFOLDER', `${place.path} cannot be opened: ${errnoOf(cause) ?? cause}.`, { cause });
  }
  throw refuse(place, whyNot(place, names));
}

/** Why a path is no folder without a link in it. */
function whyNot({ top }: FolderPlace, names: readonly string[]): string {
  for (let end = 1; end <= names.length; end++) {
    const part = names.slice(0, end).join('/');
    const status = lstatSync(join(top, part), { throwIfNoEntry: false });
    if (status === undefined) return `does not exist in ${top}`;
    const itself = end === names.length;
    if (status.isSymbolicLink()) return itself ? 'is a link' : `lies behind the link ${part}`;
    if (!status.isDirectory()) return itself ? 'is not a folder' : `lies below the file ${part}`;
  }
  return 'changed during the check';
}
