import { closeSync, constants, lstatSync, mkdirSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Deps, errnoOf, WorkspaceError } from '../../../deps.ts';
import * as files from '../../../files/index.ts';
import { streamBlobs } from '../../../host-git/stream-blobs.ts';
import { asOwner, type Repository } from '../../../source/git/repository.ts';
import type { LfsObject } from './clean-changes.ts';

/** Why LFS objects cannot be stored in the repository; undefined when they can. Only git-lfs can store them outside `lfs/objects`. */
export async function reasonAgainstLfs(deps: Pick<Deps, 'git'>, repository: Repository): Promise<string | undefined> {
  const keys = '^lfs\\.(storage|extension\\..*)$';
  const { at, options } = asOwner(repository);
  const args = [...at, 'config', '--name-only', '--get-regexp', keys];
  const { code, stdout } = await deps.git.run(args, { ...options, accept: [0, 1] });
  const advice = 'Take the run to commit the whole content as it is.';
  if (code === 0) {
    const [key] = stdout.toString('utf8').split('\n');
    return `git-lfs manages this file, and the setting ${key} of the repository is not supported. ${advice}`;
  }
  for (const names of [['lfs'], ['lfs', 'objects']]) {
    const path = join(repository.common, ...names);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status?.isDirectory() === false) return `git-lfs manages this file, and ${path} is not a folder. ${advice}`;
  }
  return undefined;
}

/**
 * Writes the contents behind LFS pointers to the user's repository, within reach of `git lfs push`: durably, before any ref points to the
 * pointers. Existing objects are left alone. A crash leaves only temporary files, replaced by the next call.
 */
export async function storeLfsObjects(
  deps: Deps,
  input: { shadow: string; source: Repository; objects: readonly LfsObject[] },
): Promise<void> {
  const missing = [...new Map(input.objects.map((object) => [object.oid, object])).values()].filter((object) => {
    const status = lstatSync(join(input.source.common, ...objectPath(object)), { throwIfNoEntry: false });
    return status?.isFile() !== true || status.size !== object.bytes;
  });
  let open: Open | undefined;
  try {
    await streamBlobs(
      deps,
      { gitDir: input.shadow, oids: missing.map(({ oid }) => oid) },
      {
        begin: (index) => {
          const object = missing[index];
          if (object !== undefined) open = openObject(input.source, object);
        },
        piece: (bytes) => {
          if (open !== undefined) files.writeAll(open.fd, bytes);
        },
        end: async () => {
          const written = open;
          open = undefined;
          if (written !== undefined) await moveIntoPlace(input.source, written);
          deps.onPoint('publish-git.lfs');
        },
      },
    );
  } finally {
    if (open !== undefined) {
      closeSync(open.fd);
      open.directory[Symbol.dispose]();
    }
  }
}

const objectPath = ({ sha256 }: LfsObject): string[] => [
  'lfs',
  'objects',
  sha256.slice(0, 2),
  sha256.slice(2, 4),
  sha256,
];

interface Open {
  fd: number;
  directory: files.Directory;
  name: string;
  temporary: string;
}

function openObject(source: Repository, object: LfsObject): Open {
  const names = objectPath(object);
  const name = names.pop() ?? '';
  const directory = makeFolders(source, names);
  const temporary = `.holdpoint-${name}.tmp`;
  try {
    unlinkSync(directory.at(temporary));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(directory.at(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  return { fd, directory, name, temporary };
}

/** Opens a chain of folders without following links. A missing folder gets the mode of its parent. */
function makeFolders(source: Repository, names: readonly string[]): files.Directory {
  let current = files.openTop(source.common);
  for (const name of names) {
    using parent = current;
    const mode = Number((files.statIn(parent, '.')?.mode ?? 0o755n) & 0o777n);
    const isMissing = files.statIn(parent, name) === undefined;
    if (isMissing) mkdirSync(parent.at(name), 0o700);
    try {
      current = files.openChild(parent, name);
    } catch (cause) {
      throw new WorkspaceError('EGITFAILED', `${name} in the LFS storage of the repository is not a folder.`, {
        cause,
      });
    }
    if (isMissing) files.setFileOwner(current.fd, source.as, mode);
  }
  return current;
}

async function moveIntoPlace(source: Repository, { fd, directory, name, temporary }: Open): Promise<void> {
  using folder = directory;
  try {
    files.setFileOwner(fd, source.as, 0o644 & Number((files.statIn(folder, '.')?.mode ?? 0o755n) & 0o777n));
    await files.syncOpen(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(folder.at(temporary), folder.at(name));
  // The folders above may be new.
  for (const above of ['.', '..', '../..', '../../..', '../../../..']) await files.syncPath(folder.at(above));
}
