import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, symlinkSync, unlinkSync } from 'node:fs';
import * as files from '../../files/index.ts';
import { type SkippedPath, WorkspaceError } from '../../port/workspaces.ts';
import { bytesDone, countBytes, countEntry, fileDone, type ImportContext } from '../import-context.ts';

/** Writes the entries of an archive into a tree. The names are untrusted: see `entryPath`. */
export interface Unpacker {
  folder(name: files.BytePath, mode: number): void;
  file(name: files.BytePath, mode: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  link(name: files.BytePath, target: files.BytePath): void;
  /** Copies an earlier file of the archive. */
  hardLink(name: files.BytePath, target: files.BytePath): Promise<void>;
  /** Records an entry impossible in a workspace. */
  skip(name: files.BytePath, reason: SkippedPath['reason']): void;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * Folders are opened step by step and never through a link: no entry can be written through a link planted by another entry. A later entry
 * replaces an earlier entry of the same name, as in tar.
 */
export function createUnpacker(
  context: ImportContext,
  { root, packedBytes }: { root: string; packedBytes: number },
): Unpacker {
  const write = async (place: EntryPath, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> => {
    using directory = openParents(context, root, place);
    removeEarlier(directory, place);
    const fd = openSync(directory.at(place.name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      for await (const piece of content) {
        countBytes(context, piece.length);
        refuseBomb(context, packedBytes);
        files.writeAll(fd, piece);
        bytesDone(context, piece.length);
        const pause = context.maybeYield();
        if (pause !== undefined) await pause;
      }
      files.setFileOwner(fd, context.owner, (mode & 0o777) | 0o600);
    } finally {
      closeSync(fd);
    }
    fileDone(context);
  };
  return {
    folder(name, mode) {
      const place = entryPath(context, name, 'folder');
      if (place === undefined) return;
      using parent = openParents(context, root, place);
      if (files.statIn(parent, place.name)?.isDirectory() !== true) {
        removeEarlier(parent, place);
        mkdirSync(parent.at(place.name), 0o700);
      }
      using made = files.openChild(parent, place.name);
      files.setFolderOwner(made.fd, context.owner, (mode & 0o777) | 0o700);
    },
    async file(name, mode, content) {
      const place = entryPath(context, name, 'file');
      if (place !== undefined) await write(place, mode, content);
    },
    link(name, target) {
      const place = entryPath(context, name, 'file');
      if (place === undefined) return;
      using directory = openParents(context, root, place);
      removeEarlier(directory, place);
      symlinkSync(Buffer.from(target, 'latin1'), directory.at(place.name));
      files.setLinkOwner(directory.at(place.name), context.owner);
      fileDone(context);
    },
    async hardLink(name, target) {
      const place = entryPath(context, name, 'file');
      if (place === undefined) return;
      const names = namesOf(target, name);
      const source = openUnpacked(root, names);
      if (source === undefined) {
        const why = context.selection.has(names.join('/')) ? 'is missing' : 'is left out';
        throw archiveError(`${files.toText(name)} is a hard link to ${files.toText(target)}, which ${why}`);
      }
      try {
        await write(place, fstatSync(source).mode, chunksOf(source));
      } finally {
        closeSync(source);
      }
    },
    skip(name, reason) {
      const place = entryPath(context, name, 'file');
      if (place !== undefined) context.skipped.set([...place.folders, place.name].join('/'), reason);
    },
  };
}

interface EntryPath {
  folders: string[];
  name: string;
}

/** The path of an entry; undefined for a path outside of the workspace. */
function entryPath(context: ImportContext, entry: files.BytePath, kind: 'file' | 'folder'): EntryPath | undefined {
  const folders = namesOf(entry, entry);
  const name = folders.pop();
  if (name === undefined) return undefined;
  countEntry(context);
  if ([...folders, name].some(files.isDotGit)) return undefined;
  const path = [...folders, name].join('/');
  const isWanted = context.selection.has(path) && !(kind === 'folder' && context.selection.excludes(path));
  return isWanted ? { folders, name } : undefined;
}

/** The names of a path in an archive. A path out of the workspace is refused. */
function namesOf(path: files.BytePath, entry: files.BytePath): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (path.startsWith('/') || path.includes('\0') || names.includes('..')) {
    throw archiveError(`the entry ${files.toText(entry)} leads out of the archive`);
  }
  if (names.length > deepest || names.some((name) => name.length > longestName)) {
    throw archiveError(`the entry ${files.toText(entry).slice(0, 100)} has a path that is too long`);
  }
  return names;
}

/** Depth of folders; a snapshot cannot hold deeper ones. */
const deepest = 200;
/** Bytes; the limit of the usual file systems. */
const longestName = 255;

const suspiciousFrom = 64 * 1024 * 1024;
const suspiciousRatio = 200;

/** Text shrinks to a tenth, a long log perhaps to a fiftieth, a zip bomb to a thousandth. */
function refuseBomb(context: ImportContext, packedBytes: number): void {
  if (context.bytes < suspiciousFrom || context.bytes < packedBytes * suspiciousRatio) return;
  throw archiveError(`its ${packedBytes} bytes unpack to more than ${suspiciousRatio} times as many`);
}

export const archiveError = (what: string, cause?: unknown): WorkspaceError =>
  new WorkspaceError('EARCHIVE', `The archive cannot be used: ${what}.`, { cause });

/** Opens the folder of an entry and makes missing folders. */
function openParents(context: ImportContext, root: string, { folders, name }: EntryPath): files.Directory {
  let current = files.openTop(root);
  for (const folder of folders) {
    using parent = current;
    const status = files.statIn(parent, folder);
    if (status === undefined) {
      countEntry(context);
      mkdirSync(parent.at(folder), 0o700);
      using made = files.openChild(parent, folder);
      files.setFolderOwner(made.fd, context.owner, 0o755);
    } else if (!status.isDirectory()) {
      throw archiveError(
        `${files.toText([...folders, name].join('/'))} is below ${files.toText(folder)}, which is not a folder`,
      );
    }
    current = files.openChild(parent, folder);
  }
  return current;
}

/** Removes an earlier entry of the same name, but never a folder. */
function removeEarlier(directory: files.Directory, { name }: EntryPath): void {
  const status = files.statIn(directory, name);
  if (status === undefined) return;
  if (status.isDirectory()) throw archiveError(`${files.toText(name)} is both a folder and a file`);
  unlinkSync(directory.at(name));
}

function openUnpacked(root: string, names: readonly string[]): number | undefined {
  using top = files.openTop(root);
  using directory = files.openChain(top, names.slice(0, -1));
  const name = names.at(-1);
  if (directory === undefined || name === undefined || files.statIn(directory, name)?.isFile() !== true)
    return undefined;
  return openSync(directory.at(name), O_RDONLY | O_NOFOLLOW);
}

async function* chunksOf(fd: number): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(256 * 1024);
    const read = readSync(fd, buffer);
    if (read === 0) return;
    yield buffer.subarray(0, read);
  }
}
