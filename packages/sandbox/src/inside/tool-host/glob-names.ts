import { type Dirent, lstat, lstatSync, readdir, readdirSync, stat, statSync } from 'node:fs';
import type { Options } from 'fast-glob';

/**
 * Stand-ins for line breaks in file names, for the matcher of globs: the `.` of its regular expressions matches no line break. The
 * stand-ins are lone surrogates. No name has lone surrogates, because bytes outside UTF-8 become U+FFFD.
 */
const standIns: Readonly<Record<string, string>> = {
  '\n': '\udc0a',
  '\r': '\udc0d',
  '\u2028': '\udc28',
  '\u2029': '\udc29',
};
const lineBreaks: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(standIns).map(([lineBreak, standIn]) => [standIn, lineBreak]),
);

export const toGlobName = (name: string): string =>
  name.replace(/[\n\r\u2028\u2029]/g, (lineBreak) => standIns[lineBreak] ?? lineBreak);

export const fromGlobName = (name: string): string =>
  name.replace(/[\udc0a\udc0d\udc28\udc29]/g, (standIn, at: number) =>
    isHighSurrogate(name.charCodeAt(at - 1)) ? standIn : (lineBreaks[standIn] ?? standIn),
  );

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** The file system for fast-glob, with stand-ins in the names. */
export const globFileSystem = {
  lstat: (path, done) => lstat(fromGlobName(path), done),
  stat: (path, done) => stat(fromGlobName(path), done),
  readdir: readNames,
} satisfies Options['fs'];

/** The same without threads. @param onRead gets the number of names in each directory. False makes the directory look empty */
export const globFileSystemSync = (onRead: (names: number) => boolean): Options['fs'] => ({
  lstatSync: (path) => lstatSync(fromGlobName(path)),
  statSync: (path) => statSync(fromGlobName(path)),
  // fast-glob asks for entries alone.
  readdirSync: ((path: string) => {
    const entries = readdirSync(fromGlobName(path), { withFileTypes: true });
    if (!onRead(entries.length)) return [];
    for (const entry of entries) entry.name = toGlobName(entry.name);
    return entries;
  }) as unknown as typeof readdirSync,
});

type Done<Entry> = (error: NodeJS.ErrnoException | null, entries: Entry[]) => void;

function readNames(path: string, options: { withFileTypes: true }, done: Done<Dirent>): void;
function readNames(path: string, done: Done<string>): void;
function readNames(path: string, options: { withFileTypes: true } | Done<string>, done?: Done<Dirent>): void {
  if (typeof options === 'function') {
    readdir(fromGlobName(path), (error, names = []) => options(error, names.map(toGlobName)));
    return;
  }
  readdir(fromGlobName(path), options, (error, entries = []) => {
    for (const entry of entries) entry.name = toGlobName(entry.name);
    done?.(error, entries);
  });
}
