import { text as ask, isCancel, select } from '@clack/prompts';
import type { Resolution } from '@holdpoint/contract';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { nameText, planOf } from '../../output/index.ts';
import { CliError, type Shell } from '../../shell/index.ts';
import { readText } from './read-text.ts';

export type Choice = { take: 'run' | 'source' } | { take: 'text'; text: string };

/** The files that changed both in the run and at the source. @throws CliError `usage` */
export function conflictsOf(shown: Approval): { path: string; seen: string | null }[] {
  const plan = shown.kind === 'conflict' ? planOf(shown) : undefined;
  if (plan === undefined) throw new CliError('usage', `${shown.id} is not about conflicts.`);
  return plan.conflicts.map(({ path, versions }) => ({ path, seen: versions?.source?.oid ?? null }));
}

/** The decision's arguments: a choice for each file, bound to the version that was shown. */
export const toArgs = (
  conflicts: readonly { path: string; seen: string | null }[],
  choiceOf: (path: string) => Choice,
): NonNullable<Decide['args']> => ({
  resolutions: conflicts.map(({ path, seen }): Resolution => ({ path, ...choiceOf(path), seen })),
});

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
