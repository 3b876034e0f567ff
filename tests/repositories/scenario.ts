/** A repository with the changes of a run and of other people. The run and the reference clone execute the same bash scripts. */
export interface Scenario {
  name: string;
  /** Part of the bounded form, which `npm test` runs. */
  isBounded?: true;
  /** Whether its work tree is also tested as a directory source: in both forms, or only in the full one. */
  asDirectory?: 'bounded' | 'full';
  /** Creates the repository below an empty folder. */
  make(folder: string): TestRepository;
  /** Steps of the run, one script each. */
  edits: readonly string[];
  /** Another person's commit that git merges with the run's without a conflict. */
  theirs?: string;
  /** Another person's commit that git cannot merge with the run's. */
  conflicting?: string;
  /** Commands that must pass before the publish. */
  validators?: readonly string[];
}

export interface TestRepository {
  /** The source of the run. */
  path: string;
  /** @default HEAD */
  ref?: string;
}
