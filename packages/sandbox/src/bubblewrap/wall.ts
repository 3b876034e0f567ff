import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../is-executable.ts';

/*
 * The wall: a read-only command sees the shells, the programs judged by the policy, and libraries. When the policy misjudged a line, the
 * command still finds no other program to start.
 */

const shells = ['bash', 'sh'];
/** The system's program directories, in the order of a command's PATH. */
const programFolders = ['/usr/local/bin', '/usr/bin', '/bin'];
/** Programs started by another program: Debian's `egrep` is a script around `grep`, and `xargs` without a program runs `echo`. */
const startedBy: Readonly<Record<string, readonly string[]>> = { egrep: ['grep'], fgrep: ['grep'], xargs: ['echo'] };
/** Data files read by a program. The host may lack them. */
const dataOf: Readonly<Record<string, readonly string[]>> = {
  date: ['/usr/share/zoneinfo'],
  file: ['/usr/lib/file', '/usr/share/misc'],
};
const locales = ['/usr/lib/locale'];
const libraryTops = ['/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libx32', '/lib', '/lib32', '/lib64', '/libx32'];

/**
 * The files of the shells and programs behind the wall. A file replaced later is another program, so the spare's binding includes these
 * files.
 */
export const wallFiles = (programs: readonly string[]): string[] =>
  namesOf(programs).flatMap((name) => findProgram(name) ?? []);

/** Sorted, so the same programs always give the same wall. */
const namesOf = (programs: readonly string[]): string[] =>
  [...new Set([...shells, ...programs.flatMap((name) => [name, ...(startedBy[name] ?? [])])])].sort();

/** bubblewrap's options for /usr and the links to /usr. @param hostPath returns bubblewrap's path of a host file */
export function wallOptions(programs: readonly string[], hostPath: (path: string) => string): string[] {
  const bind = (host: string, inside = host) => ['--ro-bind', hostPath(host), inside];
  return [
    ...namesOf(programs).flatMap((name) => {
      const program = findProgram(name);
      return program === null ? [] : bind(program, `/usr/bin/${name}`);
    }),
    ...libraries().flatMap((path) => bind(path)),
    ...masks().flatMap(hide),
    ...[...locales, ...programs.toSorted().flatMap((name) => dataOf[name] ?? [])].flatMap((path) => [
      '--ro-bind-try',
      path,
      path,
    ]),
    ...['/bin', '/usr/sbin', '/sbin'].flatMap((path) => ['--symlink', '/usr/bin', path]),
    ...['--symlink', '/usr/bin', '/usr/local/bin'],
    ...libraryTops.flatMap(linkOf),
  ];
}

/** The file behind a name of PATH; null when the host has no file of this name, as for a builtin of the shell. */
function findProgram(name: string): string | null {
  if (!/^[\w.+[-]+$/.test(name)) return null;
  const found = programFolders.map((folder) => join(folder, name)).find(isExecutable);
  return found === undefined ? null : realpathSync(found);
}

function linkOf(path: string): string[] {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : [];
}

let found: { libraries: string[]; masks: Mask[] } | undefined;
const libraries = () => seen().libraries;
const masks = () => seen().masks;

/** Searched once: an update of the system under a running worker keeps the folders. */
function seen() {
  if (found === undefined) {
    const shown = libraryTops.filter(isFolder).flatMap(libraryFolders);
    found = { libraries: shown, masks: shown.flatMap(masksIn) };
  }
  return found;
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const isLibrary = (name: string): boolean => /^(?:ld|lib[^/]*)[-.\w+]*\.so(?:$|\.)/.test(name);

/**
 * The folder, when libraries lie in the folder, or else its subfolders with libraries. Debian names these subfolders after an architecture.
 */
function libraryFolders(top: string): string[] {
  const entries = readdirSync(top, { withFileTypes: true });
  if (entries.some(({ name }) => isLibrary(name))) return [top];
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(top, name))
    .filter((folder) => readdirSync(folder).some((name) => /^lib(?:c|dl|m)\.so\.|^ld-/.test(name)));
}

interface Mask {
  path: string;
  kind: 'folder' | 'file';
}

const hide = ({ path, kind }: Mask): string[] =>
  kind === 'folder' ? ['--size', '4096', '--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path];

/** Masks for the programs in a library folder, which a command could start. */
function masksIn(folder: string): Mask[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): Mask[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return hasPrograms(path) ? [{ path, kind: 'folder' }] : [];
    return entry.isFile() && isProgram(path, entry.name) ? [{ path, kind: 'file' }] : [];
  });
}

function hasPrograms(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? hasPrograms(path) : entry.isFile() && isProgram(path, entry.name);
  });
}

/** Only ELF files count as programs. A script needs no mask: the shells can read any script, and a script finds no other program either. */
function isProgram(path: string, name: string): boolean {
  if (/\.so(?:$|\.)/.test(name) || ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) === 0) return false;
  try {
    return firstBytes(path) === '\x7fELF';
  } catch {
    return true;
  }
}

function firstBytes(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4);
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}
