import { lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { relative } from 'node:path';
import { assertOutsideRepository } from './dot-git.ts';
import { type OpenDirectory, openDirectory, openEntry } from './open-directory.ts';
import { fitReply, type Operations, Refusal } from './protocol.ts';
import { resolve } from './resolve.ts';

export function makeDirectory(
  root: string,
  input: Operations['makeDirectory']['input'],
): Operations['makeDirectory']['output'] {
  const { path, stats } = resolve(root, input.path);
  assertOutsideRepository(root, path);
  if (stats && !stats.isDirectory()) throw new Refusal('EEXIST', 'it exists and is not a directory');
  const names = relative(root, path).split('/').filter(Boolean);
  const there = countThere(root, names);
  using parent = openDirectory(root, [root, ...names.slice(0, there)].join('/'));
  const made = makeBelow(parent, names.slice(there));
  return { created: fitReply(made.map((below) => [...names.slice(0, there), below].join('/'))) };
}

/** The highest missing directory of a path. @param path absolute, below the root */
export function firstMissing(root: string, path: string): string {
  const names = relative(root, path).split('/');
  return [root, ...names.slice(0, countThere(root, names) + 1)].join('/');
}

/** Number of existing directories, from the root down. */
function countThere(root: string, names: readonly string[]): number {
  let count = 0;
  while (count < names.length && isDirectory([root, ...names.slice(0, count + 1)].join('/'))) count++;
  return count;
}

const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** @returns paths of the new directories, below `parent` */
function makeBelow(parent: OpenDirectory, names: readonly string[]): string[] {
  const made: string[] = [];
  let directory: OpenDirectory | undefined;
  try {
    for (const [index, name] of names.entries()) {
      using above = directory;
      const entry = (above ?? parent).at(name);
      mkdirSync(entry, 0o755);
      made.push(names.slice(0, index + 1).join('/'));
      directory = openEntry(entry, parent.at(made.at(-1) ?? ''));
    }
    return made;
  } catch (error) {
    for (const below of made.reverse()) removeEmpty(parent.at(below));
    throw error;
  } finally {
    directory?.[Symbol.dispose]();
  }
}

/** Keeps a directory filled by a command. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {}
}
