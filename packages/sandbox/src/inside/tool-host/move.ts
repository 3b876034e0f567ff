import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { relative } from 'node:path';
import { assertOutsideRepository } from './dot-git.ts';
import { entryType } from './entry.ts';
import { openPlace } from './open-directory.ts';
import { type Operations, Refusal, refusalOf } from './protocol.ts';
import { resolve } from './resolve.ts';
import { assertNamesFile } from './write.ts';

export function move(root: string, input: Operations['move']['input']): Operations['move']['output'] {
  const from = resolve(root, input.from, { follow: false }).path;
  const to = aboutTarget(input, () => resolve(root, input.to, { follow: false }).path);
  for (const path of [from, to]) assertOutsideRepository(root, path);
  using source = openPlace(root, from);
  using target = aboutTarget(input, () => openPlace(root, to));
  const stats = lstatSync(source.path, { throwIfNoEntry: false });
  if (!stats) throw new Refusal('ENOENT', 'no such file or directory');
  if (from === to) throw new Refusal('EINVAL', 'source and target are the same');
  if (to.startsWith(`${from}/`)) throw new Refusal('EINVAL', 'a directory cannot be moved into itself');
  if (!stats.isDirectory()) aboutTarget(input, () => assertNamesFile(input.to));
  const paths = { from: source.path, to: target.path };
  const replaced = aboutTarget(input, () => place(stats, paths, input.replace));
  return { from: relative(root, from), to: relative(root, to), type: entryType(stats), replaced };
}

interface Paths {
  from: string;
  to: string;
}

/** @returns whether the move replaced an entry */
function place(stats: Stats, paths: Paths, replace: boolean): boolean {
  try {
    if (stats.isDirectory()) placeNewDirectory(paths);
    else placeNewFile(paths);
    return false;
  } catch (error) {
    if (!replace || refusalOf(error)?.code !== 'EEXIST') throw error;
  }
  const before = lstatSync(paths.to, { throwIfNoEntry: false });
  renameSync(paths.from, paths.to);
  // Renaming a name of a file to another name of the same file has no effect.
  if (before?.ino === stats.ino && before.dev === stats.dev) unlinkSync(paths.from);
  return true;
}

/** Unlike a rename, a link fails when the target exists, even when a command has made the target since the check. */
function placeNewFile({ from, to }: Paths): void {
  linkSync(from, to);
  try {
    unlinkSync(from);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}

/** A rename of a directory can replace only an empty directory. So the rename replaces the new, empty directory, or fails. */
function placeNewDirectory({ from, to }: Paths): void {
  mkdirSync(to, 0o700);
  try {
    renameSync(from, to);
  } catch (error) {
    rmdirSync(to);
    throw error;
  }
}

/** Names the target in refusals about the target. */
function aboutTarget<Result>({ to }: { to: string }, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    const refusal = refusalOf(error);
    throw refusal ? new Refusal(refusal.code, `the target ${to}: ${refusal.message}`) : error;
  }
}
