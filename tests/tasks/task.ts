import type { Expert } from './expert.ts';

/**
 * A task as a user gives it to an agent. Its folder has `task.ts`, the repository (`repo/`), and the files that only the validator sees
 * (`hidden/`).
 */
export interface Task {
  kind: 'bug' | 'feature' | 'migration';
  language: string;
  /** Programs without which a machine skips the task. */
  needs?: readonly string[];
  prompt: string;
  /** The project's own tests. They have to pass before the changes are published. */
  tests: string;
  /** Passes on a right solution alone. Runs in the tree of the solution with the files of `hidden/` in place. */
  check: string;
  /** Plausible changes that solve the task only in part, by name. */
  wrong: Readonly<Record<string, readonly Replacement[]>>;
  expert: Expert;
}

/** @property from occurs once in the file */
export interface Replacement {
  file: string;
  from: string;
  to: string;
}

/** Keeps the type of a task's parts. */
export const defineTask = (task: Task): Task => task;
