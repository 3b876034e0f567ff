import type { Sides } from '../sides.ts';

/** Changes data of one format into the next. */
export interface Migration {
  from: number;
  to: number;
  /** What it changes, in one line for a user. */
  title: string;
  /** Runs again from the start when an earlier try died: it has to accept data that is changed already, in part or in full. */
  run(sides: Sides): Promise<void>;
}
