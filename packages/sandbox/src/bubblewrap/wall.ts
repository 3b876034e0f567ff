import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../is-executable.ts';

/*
 * What a command sees of the system when it may only read: the shells, the programs that the policy judged, and libraries. A line that its
 * judge misread finds nothing else to start.
 */

const shells = ['bash', 'sh'];
/** Where commands find programs of the system, in the order of their PATH. */
const programFolders = ['/usr/local/bin', '/usr/bin', '/bin'];
/** What a program starts by itself: Debian's `egrep` is a script, and `xargs` without a program prints. */
const startedBy: Readonly<Record<string, readonly string[]>> = { egrep: ['grep'], fgrep: ['grep'], xargs: ['echo'] };
/** Data that a program reads, where the host has it. */
const dataOf: Readonly<Record<string, readonly string[]>> = {
  date: ['/usr/share/zoneinfo'],
  file: ['/usr/lib/file', '/usr/share/misc'],
};
const locales = ['/usr/lib/locale'];
const libraryTops = ['/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libx32', '/lib', '/lib32', '/lib64', '/libx32'];

/** The files behind the names that are shown. One that was replaced since is another program. */
export const wallFiles = (programs: readonly string[]): string[] =>
  namesOf(programs).flatMap((name) => findProgram(name) ?? []);

/** In an order of their own: the same programs are the same wall. */
const namesOf = (programs: readonly string[]): string[] =>
  [...new Set([...shells, ...programs.flatMap((name) => [name, ...(startedBy[name] ?? [])])])].sort();

/** bubblewrap's options for /usr and the links to it. @param hostPath where bubblewrap finds a host path */
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

/** The file behind a name of PATH; null where the host has none, as for a builtin of the shell. */
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

/** Looked for once: a system that is updated below a worker keeps its folders. */
function seen() {
  if (found === undefined) {
    const shown = libraryTops.filter(isFolder).flatMap(libraryFolders);
    found = { libraries: shown, masks: shown.flatMap(masksIn) };
  }
  return found;
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const isLibrary = (name: string): boolean => /^(?:ld|lib[^/]*)[-.\w+]*\.so(?:$|\.)/.test(name);

/** The folder itself where libraries lie in it, or else those of its folders that have some: Debian's have the name of an architecture. */
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

/** What of a library folder a command could start. */
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

/** A script is none: the shells can read it, and it finds no other program either. */
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
