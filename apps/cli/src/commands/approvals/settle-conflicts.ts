import { text as ask, isCancel, select } from '@clack/prompts';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { nameText } from '../../output/name-text.ts';
import type { Shell } from '../../shell.ts';
import { readText } from './read-text.ts';
import { type Choice, conflictsOf, toArgs } from './resolutions.ts';

/** Asks for each file in conflict what becomes of it. @returns undefined when the person changes their mind */
export async function settleConflicts(shell: Shell, shown: Approval): Promise<Pick<Decide, 'args'> | undefined> {
  const conflicts = conflictsOf(shown);
  const chosen = new Map<string, Choice>();
  for (const { path } of conflicts) {
    const choice = await settle(shell, path);
    if (choice === undefined) return undefined;
    chosen.set(path, choice);
  }
  const args = toArgs(conflicts, (path) => {
    const choice = chosen.get(path);
    if (choice === undefined) throw new TypeError(`nothing was said of ${path}`);
    return choice;
  });
  return { args };
}

async function settle(shell: Shell, path: string): Promise<Choice | undefined> {
  const take = await select<'run' | 'source' | 'text'>({
    message: nameText(path),
    options: [
      { value: 'run', label: 'run', hint: 'as the run made it' },
      { value: 'source', label: 'source', hint: 'as it is in the source now' },
      { value: 'text', label: 'text', hint: 'what is in a file of yours' },
    ],
  });
  if (isCancel(take)) return undefined;
  if (take !== 'text') return { take };
  const file = await ask({ message: 'The file', validate: (value) => (value ? undefined : 'It needs a path.') });
  if (isCancel(file)) return undefined;
  return { take, text: await readText(shell.config.cwd, file) };
}
