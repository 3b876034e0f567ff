import { createHash } from 'node:crypto';
import type { Deps } from '../../deps.ts';
import { openChain, openTop, statIn } from '../../files/open-directory.ts';
import { syncFolder } from '../../files/write-durably.ts';
import { look } from './inspect-source.ts';
import { isState, type Objection, type Step, splitPath, type Way } from './journal-step.ts';
import { waitForWriters } from './open-writers.ts';
import { changed } from './prepare-step.ts';
import { type Aside, bringTo, findAside, type Put, privateName, type Role, removeName } from './private-name.ts';

/** How long a publish waits for a program that has a replaced file open for writing. */
const longestMs = 2000;

/**
 * Removes what was taken from its name, if it is still what it was and no program can write to it any more. A file that was changed, or is
 * open for writing, is reported and stays where it is: the way back returns it to its name.
 */
export async function settleForward(
  deps: Pick<Deps, 'onPoint'>,
  way: Way,
  steps: readonly Step[],
): Promise<Objection[]> {
  const { aside } = way;
  const isOpen = await openAmong(aside, steps, ['old']);
  const met: Objection[] = [];
  for (const step of steps) {
    const away = findAside(aside, step.path, 'old');
    if (away === undefined) continue;
    using directory = away.directory;
    if (isOpen(step.path, 'old')) {
      met.push({ path: step.path, detail: 'A program has the file open for writing.' });
    } else if (!isState(await look(directory, away.name), step.from)) {
      met.push(changed(step.path));
    } else if (met.length === 0) {
      removeName(directory, away.name);
      await syncFolder(directory.self);
      deps.onPoint('publish.settled');
    }
  }
  return met;
}

/** A version that could not stay under its name, and was given another one. */
export interface Kept {
  objection: Objection;
  /** Removes the private name, once the objection is written down. */
  release(): Promise<void>;
}

/**
 * On the way back: what is still under a private name goes if its content is known, and is kept if it is not, or if its place was taken:
 * under its own name if that is free, else beside it.
 */
export async function settleBack(way: Way, steps: readonly Step[]): Promise<Kept[]> {
  const { aside } = way;
  const isOpen = await openAmong(aside, steps, ['new', 'old']);
  const kept: Kept[] = [];
  for (const step of steps) {
    for (const role of ['new', 'old'] as const) {
      const away = findAside(aside, step.path, role);
      if (away === undefined) continue;
      const isKnown =
        !isOpen(step.path, role) &&
        isState(await look(away.directory, away.name), step[role === 'new' ? 'from' : 'to']);
      kept.push(...(await settleOne(aside, { step, role, away, isKnown })));
    }
  }
  return kept;
}

async function settleOne(
  aside: Aside,
  { step, role, away, isKnown }: { step: Step; role: Role; away: Put; isKnown: boolean },
): Promise<Kept[]> {
  const { names, name } = splitPath(step.path);
  using top = openTop(aside.root);
  using directory = openChain(top, names);
  const status = directory === undefined ? undefined : statIn(directory, name);
  const release = async () => {
    removeName(away.directory, away.name);
    await syncFolder(away.directory.self);
    away.directory[Symbol.dispose]();
  };
  const isItself = status !== undefined && status.ino === statIn(away.directory, away.name)?.ino;
  const isBack = directory !== undefined && status !== undefined && isState(await look(directory, name), step.to);
  // Another program removed the new file, so it wants none there.
  const isUnwanted = directory !== undefined && status === undefined && step.from !== null;
  if (isItself || (isKnown && (role === 'new' || isBack || isUnwanted))) {
    await release();
    return [];
  }
  if (directory !== undefined && bringTo(away, { directory, name })) {
    await syncFolder(directory.self);
    return [{ objection: changed(step.path), release }];
  }
  const [place, folders] = directory === undefined ? [away.directory, away.folders] : [directory, names];
  const beside = keepBeside(aside, { away, role, path: step.path, directory: place });
  await syncFolder(place.self);
  const detail = `The file changed while the publish was under way. Another version of it is kept beside it.`;
  return [{ objection: { path: step.path, detail, kept: [...folders, beside].join('/') }, release }];
}

/** The same name when it is done once more. */
function keepBeside(
  aside: Aside,
  { away, role, path, directory }: { away: Put; role: Role; path: string; directory: Put['directory'] },
): string {
  const hash = createHash('sha256').update(`${aside.runId}\0${role}`).digest('hex').slice(0, 8);
  const stem = `${splitPath(path).name.slice(0, 200)}.holdpoint-${hash}`;
  for (let count = 1; ; count++) {
    const name = count === 1 ? stem : `${stem}-${count}`;
    const own = statIn(away.directory, away.name)?.ino;
    if (statIn(directory, name)?.ino === own || bringTo(away, { directory, name })) return name;
  }
}

async function openAmong(
  aside: Aside,
  steps: readonly Step[],
  roles: readonly Role[],
): Promise<(path: string, role: Role) => boolean> {
  const names = new Set<string>();
  for (const { path } of steps) {
    for (const role of roles) {
      const away = findAside(aside, path, role);
      if (away !== undefined) names.add(away.name);
      away?.directory[Symbol.dispose]();
    }
  }
  const open = await waitForWriters(names, longestMs);
  return (path, role) => open.has(privateName(aside.runId, path, role));
}
