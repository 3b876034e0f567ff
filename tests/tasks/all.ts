import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from './task.ts';

export interface NamedTask extends Task {
  name: string;
  folder: string;
}

/** Every folder with a task, in the order of their names. */
export async function allTasks(): Promise<NamedTask[]> {
  const root = import.meta.dirname;
  const names = readdirSync(root).filter((name) => existsSync(join(root, name, 'task.ts')));
  return Promise.all(
    names.toSorted().map(async (name) => {
      const { task } = (await import(`./${name}/task.ts`)) as { task: Task };
      return { ...task, name, folder: join(root, name) };
    }),
  );
}

/** The programs that a task needs and this machine does not have. */
export const missing = ({ needs = [] }: Pick<Task, 'needs'>): string[] => needs.filter((program) => !isThere(program));

// Commands of a run find the programs of the system, not those of a user's home.
const isThere = (program: string): boolean =>
  ['/usr/local/bin', '/usr/bin', '/bin'].some((folder) => existsSync(join(folder, program)));
