import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, symlinkSync, unlinkSync } from 'node:fs';
import { WorkspaceError } from '../../errors.ts';
import { type Directory, openChain, openChild, openTop, statIn } from '../../files/open-directory.ts';
import { type BytePath, isDotGit, toText } from '../../files/path-name.ts';
import { setFileOwner, setFolderOwner, setLinkOwner } from '../../files/set-owner.ts';
import { writeAll } from '../../files/write-durably.ts';
import type { SkippedPath } from '../../port.ts';
import { bytesAreIn, countBytes, countEntry, fileIsIn, type Intake } from '../intake.ts';

/** Puts the entries of an archive into a tree, one after the other. Names come from a stranger: see `placeOf`. */
export interface Unpacker {
  folder(name: BytePath, mode: number): void;
  file(name: BytePath, mode: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  link(name: BytePath, target: BytePath): void;
  /** Another name of a file that came before: a copy of it. */
  hardLink(name: BytePath, target: BytePath): Promise<void>;
  /** What cannot be in a workspace is noted. */
  skip(name: BytePath, reason: SkippedPath['reason']): void;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * Folders on the way are opened one by one and never through a link, so an entry cannot be written through a link that another one has
 * planted. A later entry of the same name replaces the earlier one, as tar does.
 */
export function createUnpacker(intake: Intake, { root, packedBytes }: { root: string; packedBytes: number }): Unpacker {
  const write = async (place: Place, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> => {
    using directory = makeWay(intake, root, place);
    makeRoom(directory, place);
    const fd = openSync(directory.at(place.name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      for await (const piece of content) {
        countBytes(intake, piece.length);
        refuseBomb(intake, packedBytes);
        writeAll(fd, piece);
        bytesAreIn(intake, piece.length);
        const pause = intake.maybeYield();
        if (pause !== undefined) await pause;
      }
      setFileOwner(fd, intake.owner, (mode & 0o777) | 0o600);
    } finally {
      closeSync(fd);
    }
    fileIsIn(intake);
  };
  return {
    folder(name, mode) {
      const place = placeOf(intake, name, 'folder');
      if (place === undefined) return;
      using parent = makeWay(intake, root, place);
      if (statIn(parent, place.name)?.isDirectory() !== true) {
        makeRoom(parent, place);
        mkdirSync(parent.at(place.name), 0o700);
      }
      using made = openChild(parent, place.name);
      setFolderOwner(made.fd, intake.owner, (mode & 0o777) | 0o700);
    },
    async file(name, mode, content) {
      const place = placeOf(intake, name, 'file');
      if (place !== undefined) await write(place, mode, content);
    },
    link(name, target) {
      const place = placeOf(intake, name, 'file');
      if (place === undefined) return;
      using directory = makeWay(intake, root, place);
      makeRoom(directory, place);
      symlinkSync(Buffer.from(target, 'latin1'), directory.at(place.name));
      setLinkOwner(directory.at(place.name), intake.owner);
      fileIsIn(intake);
    },
    async hardLink(name, target) {
      const place = placeOf(intake, name, 'file');
      if (place === undefined) return;
      const names = namesOf(target, name);
      const source = openUnpacked(root, names);
      if (source === undefined) {
        const why = intake.selection.has(names.join('/')) ? 'is not in it' : 'is left out';
        throw broken(`${toText(name)} is another name of ${toText(target)}, which ${why}`);
      }
      try {
        await write(place, fstatSync(source).mode, pieces(source));
      } finally {
        closeSync(source);
      }
    },
    skip(name, reason) {
      const place = placeOf(intake, name, 'file');
      if (place !== undefined) intake.skipped.set([...place.folders, place.name].join('/'), reason);
    },
  };
}

interface Place {
  folders: string[];
  name: string;
}

/** Where an entry belongs; undefined when it is no part of the workspace. */
function placeOf(intake: Intake, entry: BytePath, kind: 'file' | 'folder'): Place | undefined {
  const folders = namesOf(entry, entry);
  const name = folders.pop();
  if (name === undefined) return undefined;
  countEntry(intake);
  if ([...folders, name].some(isDotGit)) return undefined;
  const path = [...folders, name].join('/');
  const isWanted = intake.selection.has(path) && !(kind === 'folder' && intake.selection.excludes(path));
  return isWanted ? { folders, name } : undefined;
}

/** The names of a path in an archive. One that would lead out of the workspace is an attack, or a mistake; neither is guessed at. */
function namesOf(path: BytePath, entry: BytePath): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (path.startsWith('/') || path.includes('\0') || names.includes('..')) {
    throw broken(`the entry ${toText(entry)} leads out of it`);
  }
  if (names.length > deepest || names.some((name) => name.length > longestName)) {
    throw broken(`the entry ${toText(entry).slice(0, 100)} has a path that is too long`);
  }
  return names;
}

/** Folders in folders; what lies deeper would not get into a snapshot. */
const deepest = 200;
/** Bytes; the limit of the usual file systems. */
const longestName = 255;

const suspiciousFrom = 64 * 1024 * 1024;
const suspiciousRatio = 200;

/** Text shrinks to a tenth, a long log perhaps to a fiftieth; what was made to fill disks, to a thousandth. */
function refuseBomb(intake: Intake, packedBytes: number): void {
  if (intake.bytes < suspiciousFrom || intake.bytes < packedBytes * suspiciousRatio) return;
  throw broken(`its ${packedBytes} bytes hold more than ${suspiciousRatio} times as many`);
}

export const broken = (what: string, cause?: unknown): WorkspaceError =>
  new WorkspaceError('EARCHIVE', `The archive cannot be used: ${what}.`, { cause });

/** Opens the folder of an entry; missing folders are made. */
function makeWay(intake: Intake, root: string, { folders, name }: Place): Directory {
  let current = openTop(root);
  for (const folder of folders) {
    using parent = current;
    const status = statIn(parent, folder);
    if (status === undefined) {
      countEntry(intake);
      mkdirSync(parent.at(folder), 0o700);
      using made = openChild(parent, folder);
      setFolderOwner(made.fd, intake.owner, 0o755);
    } else if (!status.isDirectory()) {
      throw broken(`${toText([...folders, name].join('/'))} lies below ${toText(folder)}, which is no folder in it`);
    }
    current = openChild(parent, folder);
  }
  return current;
}

/** An entry replaces an earlier one of its name, but never a folder with something in it. */
function makeRoom(directory: Directory, { name }: Place): void {
  const status = statIn(directory, name);
  if (status === undefined) return;
  if (status.isDirectory()) throw broken(`${toText(name)} is a folder and a file in it`);
  unlinkSync(directory.at(name));
}

function openUnpacked(root: string, names: readonly string[]): number | undefined {
  using top = openTop(root);
  using directory = openChain(top, names.slice(0, -1));
  const name = names.at(-1);
  if (directory === undefined || name === undefined || statIn(directory, name)?.isFile() !== true) return undefined;
  return openSync(directory.at(name), O_RDONLY | O_NOFOLLOW);
}

async function* pieces(fd: number): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(256 * 1024);
    const read = readSync(fd, buffer);
    if (read === 0) return;
    yield buffer.subarray(0, read);
  }
}
