/** A repository, and what a run and other people do to it. Scripts are bash, and the same for the run and for git. */
export interface Scenario {
  name: string;
  /** Part of the bounded form, which `npm test` runs. */
  isBounded?: true;
  /** Its work tree is also tried as a directory: in both forms, or in the full one. */
  asDirectory?: 'bounded' | 'full';
  /** Makes the repository below an empty folder. */
  make(folder: string): Made;
  /** Steps of the run, one script each. */
  edits: readonly string[];
  /** Another person's commit that git merges with the run's without a conflict. */
  theirs?: string;
  /** Another person's commit that git cannot merge with the run's. */
  clash?: string;
  /** Commands that must pass before the publish. */
  validators?: readonly string[];
}

export interface Made {
  /** What the run is given. */
  path: string;
  /** @default HEAD */
  ref?: string;
}
