import type { Resolution } from '@holdpoint/contract';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { CliError } from '../../errors.ts';
import { planOf } from '../../output/approval-text.ts';

export type Choice = { take: 'run' | 'source' } | { take: 'text'; text: string };

/** The files that changed both in the run and at the source. @throws CliError `usage` */
export function conflictsOf(shown: Approval): { path: string; seen: string | null }[] {
  const plan = shown.kind === 'conflict' ? planOf(shown) : undefined;
  if (plan === undefined) throw new CliError('usage', `${shown.id} is not about conflicts.`);
  return plan.conflicts.map(({ path, versions }) => ({ path, seen: versions?.source?.oid ?? null }));
}

/** The decision's arguments: a choice for each file, bound to the version that was shown. */
export function toArgs(
  conflicts: readonly { path: string; seen: string | null }[],
  choiceOf: (path: string) => Choice,
): NonNullable<Decide['args']> {
  return { resolutions: conflicts.map(({ path, seen }): Resolution => ({ path, ...choiceOf(path), seen })) };
}
