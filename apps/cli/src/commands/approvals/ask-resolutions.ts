import { text as ask, isCancel, select } from '@clack/prompts';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { nameText } from '../../output/plain.ts';
import type { Shell } from '../../shell.ts';
import { readText } from './read-text.ts';
import { type Choice, conflictsOf, toArgs } from './resolutions.ts';

/** Asks for a version of each file in conflict. @returns undefined when the user cancels */
export async function askResolutions(shell: Shell, shown: Approval): Promise<Pick<Decide, 'args'> | undefined> {
  const conflicts = conflictsOf(shown);
  const chosen = new Map<string, Choice>();
  for (const { path } of conflicts) {
    const choice = await askChoice(shell, path);
    if (choice === undefined) return undefined;
    chosen.set(path, choice);
  }
  const args = toArgs(conflicts, (path) => {
    const choice = chosen.get(path);
    if (choice === undefined) throw new TypeError(`no version was chosen for ${path}`);
    return choice;
  });
  return { args };
}

async function askChoice(shell: Shell, path: string): Promise<Choice | undefined> {
  const take = await select<'run' | 'source' | 'text'>({
    message: nameText(path),
    options: [
      { value: 'run', label: 'run', hint: "the run's version" },
      { value: 'source', label: 'source', hint: 'the current version in the source' },
      { value: 'text', label: 'text', hint: 'the text of a local file' },
    ],
  });
  if (isCancel(take)) return undefined;
  if (take !== 'text') return { take };
  const file = await ask({ message: 'The file', validate: (value) => (value ? undefined : 'A path is needed.') });
  if (isCancel(file)) return undefined;
  return { take, text: await readText(shell.config.cwd, file) };
}
