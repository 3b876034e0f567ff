import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Deps } from '../../deps.ts';
import { createYielder, openChain, openTop, statIn, syncPath } from '../../files/index.ts';
import { inspectChild } from './inspect-source.ts';
import { changedMeanwhile, isState, type Pass, type Step, type StepConflict, splitPath } from './journal-step.ts';
import * as privateNames from './private-name.ts';

const pollMs = 20;

/**
 * Waits until no process has any of the files open for writing, at most `longestMs`. A file set aside can only be written through earlier
 * descriptors, so a single scan without writers is final. The scan sees processes with readable descriptors: all processes for root, else the
 * user's own processes. Outside Linux the scan sees none.
 * @returns the names of the still open files
 */
async function waitForWriters(names: ReadonlySet<string>, longestMs: number): Promise<Set<string>> {
  const until = performance.now() + longestMs;
  let open = await openForWriting(names);
  while (open.size > 0 && performance.now() < until) {
    await wait(pollMs);
    open = await openForWriting(open);
  }
  return open;
}

/** Compares only the last component: the names are unique on the host, and another mount namespace has another path. */
async function openForWriting(names: ReadonlySet<string>): Promise<Set<string>> {
  const open = new Set<string>();
  if (process.platform !== 'linux' || names.size === 0) return open;
  const maybeYield = createYielder();
  for (const pid of list('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
    for (const fd of list(`/proc/${pid}/fd`)) {
      const name = nameOf(`/proc/${pid}/fd/${fd}`);
      if (name !== undefined && names.has(name) && isWriting(`/proc/${pid}/fdinfo/${fd}`)) open.add(name);
    }
  }
  return open;
}

function nameOf(link: string): string | undefined {
  try {
    return basename(readlinkSync(link));
  } catch {
    return undefined;
  }
}

/** `flags` is octal; its last two bits are the access mode, 0 for reading. */
function isWriting(path: string): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(path, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0;
  } catch {
    return false;
  }
}

/** Empty for an ended process, or a process with hidden descriptors. */
function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** How long a publish waits for a program with a replaced file open for writing. */
const longestMs = 2000;

/**
 * Removes the files set aside, if they are unchanged and no program can write to them any more. A file with a change or an open writer is
 * reported and kept: the rollback renames the file back.
 */
export async function clearAfterPublish(
  deps: Pick<Deps, 'onPoint'>,
  pass: Pass,
  steps: readonly Step[],
): Promise<StepConflict[]> {
  const { aside } = pass;
  const isOpen = await openAmong(aside, steps, ['old']);
  const conflicts: StepConflict[] = [];
  for (const step of steps) {
    const away = privateNames.findAside(aside, step.path, 'old');
    if (away === undefined) continue;
    using directory = away.directory;
    if (isOpen(step.path, 'old')) {
      conflicts.push({ path: step.path, detail: 'A program has the file open for writing.' });
    } else if (!isState(await inspectChild(directory, away.name), step.from)) {
      conflicts.push(changedMeanwhile(step.path));
    } else if (conflicts.length === 0) {
      privateNames.removeName(directory, away.name);
      await syncPath(directory.self);
      deps.onPoint('publish.settled');
    }
  }
  return conflicts;
}

/** A version under another name, because its own name is taken. */
export interface Kept {
  conflict: StepConflict;
  /** Removes the private name. Call after the conflict is in the journal. */
  release(): Promise<void>;
}

/**
 * Rollback: clears the remaining files under private names. A file with known content is removed. A file with unknown content, or with a
 * taken place, is kept: under its own free name, else next to its name.
 */
export async function clearAfterRollback(pass: Pass, steps: readonly Step[]): Promise<Kept[]> {
  const { aside } = pass;
  const isOpen = await openAmong(aside, steps, ['new', 'old']);
  const kept: Kept[] = [];
  for (const step of steps) {
    for (const role of ['new', 'old'] as const) {
      const away = privateNames.findAside(aside, step.path, role);
      if (away === undefined) continue;
      const isKnown =
        !isOpen(step.path, role) &&
        isState(await inspectChild(away.directory, away.name), step[role === 'new' ? 'from' : 'to']);
      kept.push(...(await clearOne(aside, { step, role, away, isKnown })));
    }
  }
  return kept;
}

async function clearOne(
  aside: privateNames.AsideContext,
  {
    step,
    role,
    away,
    isKnown,
  }: { step: Step; role: privateNames.AsideRole; away: privateNames.AsideFile; isKnown: boolean },
): Promise<Kept[]> {
  const { names, name } = splitPath(step.path);
  using top = openTop(aside.root);
  using directory = openChain(top, names);
  const status = directory === undefined ? undefined : statIn(directory, name);
  const release = async () => {
    privateNames.removeName(away.directory, away.name);
    await syncPath(away.directory.self);
    away.directory[Symbol.dispose]();
  };
  const isItself = status !== undefined && status.ino === statIn(away.directory, away.name)?.ino;
  const isBack =
    directory !== undefined && status !== undefined && isState(await inspectChild(directory, name), step.to);
  // Another program removed the new file on purpose.
  const isUnwanted = directory !== undefined && status === undefined && step.from !== null;
  if (isItself || (isKnown && (role === 'new' || isBack || isUnwanted))) {
    await release();
    return [];
  }
  if (directory !== undefined && privateNames.linkOrMove(away, { directory, name })) {
    await syncPath(directory.self);
    return [{ conflict: changedMeanwhile(step.path), release }];
  }
  const [place, folders] = directory === undefined ? [away.directory, away.folders] : [directory, names];
  const beside = keepBeside(aside, { away, role, path: step.path, directory: place });
  await syncPath(place.self);
  const detail = 'The file changed during the publish. Another version of it is kept beside it.';
  return [{ conflict: { path: step.path, detail, kept: [...folders, beside].join('/') }, release }];
}

/** Picks the same name when repeated after a crash. */
function keepBeside(
  aside: privateNames.AsideContext,
  {
    away,
    role,
    path,
    directory,
  }: {
    away: privateNames.AsideFile;
    role: privateNames.AsideRole;
    path: string;
    directory: privateNames.AsideFile['directory'];
  },
): string {
  const hash = createHash('sha256').update(`${aside.runId}\0${role}`).digest('hex').slice(0, 8);
  const stem = `${splitPath(path).name.slice(0, 200)}.holdpoint-${hash}`;
  for (let count = 1; ; count++) {
    const name = count === 1 ? stem : `${stem}-${count}`;
    const own = statIn(away.directory, away.name)?.ino;
    if (statIn(directory, name)?.ino === own || privateNames.linkOrMove(away, { directory, name })) return name;
  }
}

async function openAmong(
  aside: privateNames.AsideContext,
  steps: readonly Step[],
  roles: readonly privateNames.AsideRole[],
): Promise<(path: string, role: privateNames.AsideRole) => boolean> {
  const names = new Set<string>();
  for (const { path } of steps) {
    for (const role of roles) {
      const away = privateNames.findAside(aside, path, role);
      if (away !== undefined) names.add(away.name);
      away?.directory[Symbol.dispose]();
    }
  }
  const open = await waitForWriters(names, longestMs);
  return (path, role) => open.has(privateNames.privateName(aside.runId, path, role));
}
