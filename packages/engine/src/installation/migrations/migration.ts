import type { Sides } from '../watch-history.ts';

/** Changes data of a format into the next format. */
export interface Migration {
  from: number;
  to: number;
  /** The change made by the migration, in one line for a user. */
  title: string;
  /** Runs again from the start when an earlier try died: `run` has to accept data already changed, in part or in full. */
  run(sides: Sides): Promise<void>;
}
