import { openChain, openTop, statIn } from '../../files/open-directory.ts';
import { look } from './inspect-source.ts';
import { isState, type Objection, type Step, splitPath, type Way } from './journal-step.ts';
import { findAside, privateName, removeName } from './private-name.ts';

/** Puts in order what a process left of a step when it died in the middle of it. */
export async function prepareStep(way: Way, step: Step): Promise<Objection[]> {
  const { aside, role } = way;
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
      if (step.to !== null && (isStaged || hasOld(way, path))) way.halfWay.add(path);
      return [];
    }
    if (status.ino === statIn(from, away.name)?.ino) {
      removeName(from, away.name);
      return [];
    }
    // Back to what it was, by another program. The private name is needed for that file.
    if (!isState(await look(directory, name), step.from)) return [];
    if (!isState(await look(from, away.name), step.from)) return [changed(path)];
    removeName(from, away.name);
    return [];
  } finally {
    if (isStaged) removeName(directory, temporary);
  }
}

export const changed = (path: string): Objection => ({
  path,
  detail: 'The file changed while the publish was under way.',
});

/** On the way back the old file comes from there. */
function hasOld({ aside, role }: Way, path: string): boolean {
  if (role !== 'new') return false;
  const old = findAside(aside, path, 'old');
  old?.directory[Symbol.dispose]();
  return old !== undefined;
}
