import { openChain, openTop, statIn } from '../../files/open-directory.ts';
import { inspectChild } from './inspect-source.ts';
import { changedMeanwhile, isState, type Pass, type Step, type StepConflict, splitPath } from './journal-step.ts';
import { findAside, privateName, removeName } from './private-name.ts';

/** Cleans up what a process left behind when it died in the middle of a step. */
export async function prepareStep(pass: Pass, step: Step): Promise<StepConflict[]> {
  const { aside, role } = pass;
  const { path } = step;
  const { names, name } = splitPath(path);
  using top = openTop(aside.root);
  using directory = openChain(top, names);
  const temporary = privateName(aside.runId, path, 'tmp');
  const isStaged = directory !== undefined && statIn(directory, temporary) !== undefined;
  try {
    const away = findAside(aside, path, role);
    if (away === undefined) return [];
    using from = away.directory;
    const status = directory === undefined ? undefined : statIn(directory, name);
    if (status === undefined || directory === undefined) {
      if (step.to !== null && (isStaged || hasOld(pass, path))) pass.halfDone.add(path);
      return [];
    }
    if (status.ino === statIn(from, away.name)?.ino) {
      removeName(from, away.name);
      return [];
    }
    // Another program restored the old content under the name. That file needs the private name next.
    if (!isState(await inspectChild(directory, name), step.from)) return [];
    if (!isState(await inspectChild(from, away.name), step.from)) return [changedMeanwhile(path)];
    removeName(from, away.name);
    return [];
  } finally {
    if (isStaged) removeName(directory, temporary);
  }
}

/** A rollback restores the old file from its private name. */
function hasOld({ aside, role }: Pass, path: string): boolean {
  if (role !== 'new') return false;
  const old = findAside(aside, path, 'old');
  old?.directory[Symbol.dispose]();
  return old !== undefined;
}
