import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { Refusal } from './refusal.ts';

export interface Resolved {
  /** Absolute, without symbolic links as far as it exists. */
  path: string;
  /** Null when nothing is there. */
  stats: Stats | null;
}

/** As in Linux. */
const MAX_LINKS = 40;
const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;

/**
 * Where a path really leads, one name at a time. Links may lead anywhere inside the root. This makes refusals clear; what makes them
 * hold is that the sandbox has nothing outside: a path that is swapped after it was looked at leads nowhere.
 *
 * @param input relative to the root, or starting with it, or with `/workspace`
 */
export function resolve(root: string, input: string): Resolved {
  checkText(input);
  const names = relativeNames(root, input).reverse(); // the next name is the last
  const walked: string[] = [];
  const here = () => [root, ...walked].join('/');
  let stats: Stats | null = lstatSync(root);
  let links = 0;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (walked.pop() === undefined) throw outside();
      stats = lstatSync(here());
      continue;
    }
    walked.push(name);
    if (stats === null) continue; // below something that does not exist: nothing to look at
    stats = lstatSync(here(), { throwIfNoEntry: false }) ?? null;
    if (stats?.isSymbolicLink()) {
      if (++links > MAX_LINKS) throw new Refusal('ELOOP', 'too many symbolic links');
      const target = readlinkSync(here());
      walked.pop();
      if (target.startsWith('/')) walked.length = 0;
      names.push(...relativeNames(root, target).reverse());
      stats = lstatSync(here());
    } else if (stats && !stats.isDirectory() && names.some((rest) => rest !== '' && rest !== '.')) {
      throw new Refusal('ENOTDIR', `${walked.join('/')} is not a directory`);
    }
  }
  return { path: here(), stats };
}

function relativeNames(root: string, path: string): string[] {
  if (!path.startsWith('/')) return path.split('/');
  for (const prefix of [root, '/workspace']) {
    if (path === prefix || path.startsWith(`${prefix}/`)) return path.slice(prefix.length + 1).split('/');
  }
  throw outside();
}

function checkText(path: string): void {
  if (path === '') throw new Refusal('EINVAL', 'the path is empty');
  if (path.includes('\0')) throw new Refusal('EINVAL', 'the path holds a NUL byte');
  if (!path.isWellFormed()) throw new Refusal('EINVAL', 'the path is not valid Unicode');
  const tooLong = path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
  if (tooLong || Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Refusal('ENAMETOOLONG', 'the name is too long');
}

function outside(): Refusal {
  return new Refusal('EOUTSIDE', 'it leads outside the workspace');
}
