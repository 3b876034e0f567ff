import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { git, runScript } from './real-git.ts';

/** A repository with the changes of a run and of other people. The run and the reference clone execute the same bash scripts. */
export interface Scenario {
  name: string;
  /** Part of the bounded form, run by `npm test`. */
  isBounded?: true;
  /** Whether its work tree is also tested as a directory source: in both forms, or only in the full form. */
  asDirectory?: 'bounded' | 'full';
  /** Creates the repository below an empty folder. */
  make(folder: string): TestRepository;
  /** Steps of the run, a script each. */
  edits: readonly string[];
  /** Another person's commit: git merges the commit with the run's without a conflict. */
  theirs?: string;
  /** Another person's commit: git cannot merge the commit with the run's. */
  conflicting?: string;
  /** A changed file above the limit of a patch: the patch of the run is refused and names this file, a patch of each other path is not. */
  aboveThePatch?: string;
  /** Commands required to pass before the publish. */
  validators?: readonly string[];
}

export interface TestRepository {
  /** The source of the run. */
  path: string;
  /** @default HEAD */
  ref?: string;
}

/** Creates a repository with a single commit of a script's files. */
export function commitFolder(folder: string, script: string, name = 'repo'): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  git(path, ['init', '-q', '-b', 'main']);
  runScript(path, script);
  git(path, ['add', '-A']);
  git(path, ['commit', '-q', '-m', 'begin']);
  return path;
}

/** A few files, for scenarios about the repository and not its files. */
export const files =
  "mkdir -p src docs && printf 'one\\ntwo\\nthree\\n' | tee src/a.txt src/b.txt docs/c.txt > /dev/null";
export const work: Pick<Scenario, 'edits' | 'theirs' | 'conflicting'> = {
  edits: ['sed -i s/one/eins/ src/a.txt', 'mv docs/c.txt docs/d.txt; echo new > src/new.txt', 'rm -f src/b.txt'],
  theirs: 'sed -i s/three/drei/ src/a.txt; echo theirs > docs/theirs.txt',
  conflicting: 'sed -i s/one/un/ src/a.txt; echo four >> src/b.txt; echo four >> docs/c.txt',
};
