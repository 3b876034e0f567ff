import { constants, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Bounds, isWithin, type Use } from '../../bounds/bounds.ts';
import { errnoOf, WorkspaceError } from '../../errors.ts';

/** Folders of a git directory read by git at any depth. Work trees and modules have their own git directories. */
const deep = new Set(['objects', 'refs', 'logs', 'info', 'lfs', 'reftable']);

/**
 * Checks the target of every symbolic link in a git directory or an object directory, because git follows them. A repository with a pipe or
 * a device is refused: git would wait for such a file for ever.
 */
async function checkLinks(folder: string, check: (path: string) => Promise<void>): Promise<void> {
  const isObjects = basename(folder) === 'objects';
  const seen = new Set<string>();
  const look = async (at: string, isDeep: (name: string) => boolean): Promise<void> => {
    if (seen.has(at)) return;
    seen.add(at);
    for (const entry of await entriesOf(at)) {
      const path = join(at, entry.name);
      if (entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice()) {
        throw new WorkspaceError('ESOURCEUNREADABLE', `The repository contains a pipe or device: ${path}`);
      }
      if (entry.isSymbolicLink()) {
        const real = await realpath(path).catch(() => undefined);
        if (real === undefined) continue;
        await check(real);
        if (isDeep(entry.name)) await look(real, always);
      } else if (entry.isDirectory() && isDeep(entry.name)) await look(path, always);
    }
  };
  await look(folder, isObjects ? always : (name) => deep.has(name));
}

const always = (): boolean => true;

/**
 * Empty for a file, and for a missing or unreadable folder. Where this process is not root, git cannot read an unreadable folder either.
 */
const entriesOf = (path: string) => readdir(path, { withFileTypes: true }).catch(() => []);

/** The real paths of a repository, all within bounds. */
export interface Layout {
  /** Real path. A linked work tree has its own, below `common`. */
  gitDir: string;
  /** The git directory shared by all work trees, with objects and branches. */
  common: string;
  /** Identity of every path followed by git. Equal before and after a read: no path was replaced. */
  fingerprints: readonly string[];
  /** The folders `objects/info`, where a file can lead git to other objects. */
  info: readonly string[];
  /** Their last changes. Among others, `git gc` changes them. */
  infoTimes: readonly string[];
}

/** git follows alternates of alternates to this depth. */
const deepest = 5;
const mostAlternates = 100;
const largestFile = 1024 * 1024;

/**
 * Finds every path git would read or write and checks the path against the bounds: the git directory, the common directory, the object
 * directories of all alternates, and every symbolic link in them. git itself follows them all without a check.
 * @returns undefined when the path is not a repository
 */
export async function findLayout(bounds: Bounds, input: { gitDir: string; use: Use }): Promise<Layout | undefined> {
  const gitDir = await realpath(input.gitDir).catch(() => undefined);
  if (gitDir === undefined) return undefined;
  const fingerprints: string[] = [];
  const [info, infoTimes]: [string[], string[]] = [[], []];
  const check = async (path: string): Promise<void> => {
    bounds.assert(path, input.use);
    const { dev, ino } = await stat(path, { bigint: true });
    fingerprints.push(`${path} ${dev}:${ino}`);
  };
  await check(gitDir);
  const pointer = await readPointerFile(join(gitDir, 'commondir'), fingerprints);
  const common = pointer === undefined ? gitDir : await realpath(resolve(gitDir, trimmed(pointer))).catch(() => '');
  if (common === '' || !(await looksLikeGit(gitDir, common))) return undefined;
  // A linked work tree has its git directory below the common directory.
  if (!isWithin(gitDir, common)) return undefined;
  if (common !== gitDir) await check(common);
  await checkAlternates({ check, fingerprints, info, infoTimes }, await realpath(join(common, 'objects')));
  for (const folder of new Set([gitDir, common])) await checkLinks(folder, check);
  return { gitDir, common, fingerprints, info, infoTimes };
}

/**
 * The git directory of a work tree's top folder, or a bare repository's own path; undefined for anything else. Parents are not searched.
 */
export async function gitDirectoryOf(path: string): Promise<string | undefined> {
  const at = join(path, '.git');
  const found = await stat(at).catch(() => undefined);
  if (found === undefined) return path;
  if (found.isDirectory()) return at;
  const text = found.isFile() ? await readPointerFile(at, []) : undefined;
  if (text?.startsWith('gitdir: ') !== true) return undefined;
  return resolve(dirname(at), trimmed(text.slice('gitdir: '.length)));
}

async function looksLikeGit(gitDir: string, common: string): Promise<boolean> {
  const found = await Promise.all([
    lstat(join(gitDir, 'HEAD')).catch(() => undefined),
    stat(join(common, 'objects')).catch(() => undefined),
    stat(join(common, 'refs')).catch(() => undefined),
  ]);
  const [head, objects, refs] = found;
  return head !== undefined && objects?.isDirectory() === true && refs?.isDirectory() === true;
}

interface LayoutCheck {
  check(path: string): Promise<void>;
  fingerprints: string[];
  info: string[];
  infoTimes: string[];
}

async function checkAlternates(looking: LayoutCheck, objects: string): Promise<void> {
  const { check, fingerprints } = looking;
  const seen = new Set<string>();
  let level = [objects];
  for (let depth = 0; level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      if (seen.size > mostAlternates || depth > deepest + 1) {
        throw new WorkspaceError('ESOURCEUNREADABLE', `The repository has too many alternates, at ${folder}.`);
      }
      await check(folder);
      // Detects an alternates file added and removed again during the read.
      await recordChange(join(folder, 'info'), looking);
      await checkLinks(folder, check);
      for (const file of ['alternates', 'http-alternates']) {
        const text = await readPointerFile(join(folder, 'info', file), fingerprints);
        for (const path of pathsIn(text ?? '')) {
          const real = await realpath(resolve(folder, path)).catch(() => undefined);
          if (real !== undefined) next.push(real);
        }
      }
    }
    level = next;
  }
}

/** git unquotes a line with a quote at its start. Such lines are refused. */
function pathsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !/^\w+:\/\//.test(line));
  const odd = lines.find((line) => line.startsWith('"') || line.includes('\0') || line.includes('\ufffd'));
  if (odd === undefined) return lines;
  throw new WorkspaceError('ESOURCEUNREADABLE', `The repository has an alternate that is not a plain path: ${odd}`);
}

/** Reads a small file with a pointer to another path for git. A pipe or device is not opened. */
async function readPointerFile(path: string, fingerprints: string[]): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > largestFile) {
    throw new WorkspaceError('ESOURCEUNREADABLE', `${path} is not a small file, so git cannot use it.`);
  }
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
    fingerprints.push(`${path} ${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function recordChange(path: string, { fingerprints, info, infoTimes }: LayoutCheck): Promise<void> {
  try {
    const { dev, ino, ctimeNs } = await stat(path, { bigint: true });
    fingerprints.push(`${path} ${dev}:${ino}`);
    info.push(path);
    infoTimes.push(`${path} ${ctimeNs}`);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    fingerprints.push(`${path} absent`);
  }
}

const trimmed = (text: string): string => text.replace(/[\r\n]+$/, '');
