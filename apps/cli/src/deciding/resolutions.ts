import type { Conflict, HunkChoice, Resolution } from '@holdpoint/contract';
import type { Decide } from '@holdpoint/contract/wire';
import { nameText } from '@holdpoint/readable';
import { CliError } from '../shell/index.ts';

type WholeFile = { take: 'run' | 'source' } | { take: 'text'; text: string };

/** The result of a file in conflict. */
export type Choice =
  | WholeFile
  | { take: 'run_lines' | 'source_lines'; hunks?: HunkChoice[] }
  | { take: 'hunks'; hunks: HunkChoice[] };

/** The decision's arguments: a choice for each file, bound to the shown versions. @throws CliError `usage` */
export const toArgs = (
  conflicts: readonly Conflict[],
  choiceOf: (conflict: Conflict) => Choice,
): NonNullable<Decide['args']> => ({
  resolutions: conflicts.map((conflict): Resolution => toResolution(conflict, choiceOf(conflict))),
});

function toResolution({ path, versions, merge }: Conflict, choice: Choice): Resolution {
  const seen = versions?.source?.oid ?? null;
  if (isWholeFile(choice)) return { path, ...choice, seen };
  if (merge === undefined) {
    throw new CliError('usage', `${nameText(path)} cannot be merged by lines.`, {
      next: 'A side has no file there, or one is binary or a link: take the run, the source, or other text.',
    });
  }
  return { path, ...choice, seen, digest: merge.digest };
}

const isWholeFile = (choice: Choice): choice is WholeFile =>
  choice.take === 'run' || choice.take === 'source' || choice.take === 'text';
