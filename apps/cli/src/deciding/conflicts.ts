import { ApiError, type Client } from '@holdpoint/client';
import type { Conflict, HunkChoice, Resolution } from '@holdpoint/contract';
import type { Approval, ConflictView, Decide } from '@holdpoint/contract/wire';
import { nameText } from '@holdpoint/readable';
import { conflictText, plain, planOf } from '../output/index.ts';
import { type ApiOptions, apiCommand, CliError, commandLine, count, type Shell } from '../shell/index.ts';

/** Hunks of a file shown together. */
const shownAtOnce = 20;
/** Files whose hunks are shown with the approval. */
const mostFiles = 20;

interface Deps {
  shell: Shell;
  client: Client;
}

/** The files with changes both in the run and at the source. @throws CliError `usage` */
export function conflictsOf(shown: Approval): Conflict[] {
  const plan = shown.kind === 'conflict' ? planOf(shown) : undefined;
  if (plan === undefined) throw new CliError('usage', `${shown.id} is not about conflicts.`);
  return plan.conflicts;
}

/** The hunks of an approval about conflicts, as lines to read. Any other approval has none. */
export async function hunksText({ shell, client }: Deps, shown: Approval): Promise<string[]> {
  if (shown.kind !== 'conflict' || shown.status !== 'pending') return [];
  const lines: string[] = [];
  const paths = conflictsOf(shown).map(({ path }) => path);
  for (const path of paths.slice(0, mostFiles)) {
    lines.push(...(await fileText({ shell, client }, shown.id, path)));
  }
  for (const path of paths.slice(mostFiles)) lines.push(hunksCommandFor(shown.id, path));
  return lines;
}

async function fileText({ shell, client }: Deps, id: string, path: string): Promise<string[]> {
  try {
    const view = await client.getConflict(id, { path, limit: shownAtOnce });
    return [...conflictText(view, shell.colors), ...moreText(view)];
  } catch (error) {
    // The rest of the approval can still be read and decided.
    if (!(error instanceof ApiError)) throw error;
    return [plain(`${path}: ${error.message}`), plain(error.next)];
  }
}

const hunksCommandFor = (id: string, path: string, from?: number): string =>
  `more:     ${commandLine('approvals', 'hunks', id, `'${path.replaceAll("'", "'\\''")}'`)}${from === undefined ? '' : ` --from ${from}`}`;

const moreText = ({ approval_id: id, path, next }: ConflictView): string[] =>
  next === null ? [] : [hunksCommandFor(id, path, next)];

interface HunksOptions extends ApiOptions {
  from: number;
  limit: number;
}

export const hunksCommand = (shell: Shell) =>
  apiCommand('hunks', 'show the conflicting hunks of one file, and what taking a whole file would revert')
    .argument('<approval>', 'id of the approval')
    .argument('<path>', 'a file in conflict')
    .option('--from <n>', 'begin with this hunk', count, 1)
    .option('--limit <n>', 'show at most this many (up to 100)', count, shownAtOnce)
    .action(async (approvalId: string, path: string, { url, json, from, limit }: HunksOptions) => {
      const view = await (await shell.connect(url)).getConflict(approvalId, { path, from, limit });
      if (json) return shell.printJson(view);
      for (const line of [...conflictText(view, shell.colors), ...moreText(view)]) shell.print(line);
    });

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
