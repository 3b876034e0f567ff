import { text as ask, isCancel, log, type SelectOptions, select } from '@clack/prompts';
import type { Client } from '@holdpoint/client';
import type { Conflict, ConflictHunk, HunkChoice } from '@holdpoint/contract';
import type { Approval, ConflictView, Decide } from '@holdpoint/contract/wire';
import { conflictText, counted, hunkText, nameText } from '../output/index.ts';
import { readText, type Shell } from '../shell/index.ts';
import { type Choice, conflictsOf, toArgs } from './conflicts.ts';
import { editText } from './edit-text.ts';

interface Deps {
  shell: Shell;
  client: Client;
}

/** Asks for the result of each file in conflict, by lines or as a whole. @returns undefined when the user cancels */
export async function askResolutions(deps: Deps, shown: Approval): Promise<Pick<Decide, 'args'> | undefined> {
  const conflicts = conflictsOf(shown);
  const chosen = new Map<Conflict, Choice>();
  for (const conflict of conflicts) {
    const choice = await askChoice(deps, shown.id, conflict);
    if (choice === undefined) return undefined;
    chosen.set(conflict, choice);
  }
  const args = toArgs(conflicts, (conflict) => {
    const choice = chosen.get(conflict);
    if (choice === undefined) throw new TypeError(`no version was chosen for ${conflict.path}`);
    return choice;
  });
  return { args };
}

type Take = Choice['take'];

async function askChoice(deps: Deps, id: string, conflict: Conflict): Promise<Choice | undefined> {
  const { path, merge } = conflict;
  const view = await deps.client.getConflict(id, { path, limit: merge === undefined ? 1 : pageSize });
  // A person with a decision per hunk sees the hunks individually.
  log.message(conflictText({ ...view, data: view.data.slice(0, 3) }, deps.shell.colors));
  const options = merge === undefined ? [] : byLines(merge.hunks);
  const take = await select<Take>({ message: nameText(path), options: [...options, ...wholeFile(view)] });
  if (isCancel(take)) return undefined;
  switch (take) {
    case 'hunks':
      return askHunks(deps, view);
    case 'text': {
      const file = await ask({ message: 'The file', validate: (value) => (value ? undefined : 'A path is needed.') });
      return isCancel(file) ? undefined : { take, text: await readText(deps.shell.config.cwd, file) };
    }
    default:
      return { take };
  }
}

function byLines(hunks: number): SelectOptions<Take>['options'] {
  const where = hunks === 0 ? 'no lines conflict' : counted(hunks, 'hunk');
  const rest = 'all other edits of both sides stay';
  if (hunks === 0) return [{ value: 'run_lines', label: 'both edits', hint: `${where}: ${rest}` }];
  return [
    { value: 'hunks', label: 'hunk by hunk', hint: `${where}; ${rest}` },
    { value: 'run_lines', label: "the run's lines", hint: `in ${where}; ${rest}` },
    { value: 'source_lines', label: "the source's lines", hint: `in ${where}; ${rest}` },
  ];
}

function wholeFile({ reverts }: ConflictView): SelectOptions<Take>['options'] {
  const hint = (lost: ConflictView['reverts']['run'], of: string) =>
    lost === null ? '' : `reverts ${counted(lost.additions + lost.deletions, 'line')} of ${of}`;
  return [
    { value: 'run', label: "the run's whole file", hint: hint(reverts.run, 'the source') },
    { value: 'source', label: "the source's whole file", hint: hint(reverts.source, 'the run') },
    { value: 'text', label: 'other text', hint: 'of a local file' },
  ];
}

const pageSize = 50;

type HunkAnswer = HunkChoice['take'] | 'run_lines' | 'source_lines';

async function askHunks(deps: Deps, first: ConflictView): Promise<Choice | undefined> {
  const chosen: HunkChoice[] = [];
  for await (const hunk of allHunks(deps, first)) {
    log.message(hunkText(hunk, first.hunks, deps.shell.colors));
    const answer = await select<HunkAnswer>({
      message: `Hunk ${hunk.hunk} of ${first.hunks}`,
      options: [
        { value: 'run', label: 'run' },
        { value: 'source', label: 'source' },
        { value: 'both', label: 'both', hint: "the source's lines, then those of the run" },
        ...(hunk.run.cut || hunk.source.cut ? [] : [{ value: 'text' as const, label: 'edit', hint: 'in your editor' }]),
        { value: 'run_lines', label: "the run's lines here and in all later hunks" },
        { value: 'source_lines', label: "the source's lines here and in all later hunks" },
      ],
    });
    if (isCancel(answer)) return undefined;
    if (answer === 'run_lines' || answer === 'source_lines') return { take: answer, hunks: chosen };
    const { hunk: number } = hunk;
    if (answer !== 'text') chosen.push({ hunk: number, take: answer });
    else chosen.push({ hunk: number, take: answer, text: await editHunk(deps.shell, hunk) });
  }
  return { take: 'hunks', hunks: chosen };
}

async function* allHunks({ client }: Deps, first: ConflictView): AsyncGenerator<ConflictHunk> {
  for (let view = first; ; ) {
    yield* view.data;
    if (view.next === null) return;
    view = await client.getConflict(view.approval_id, { path: view.path, from: view.next, limit: pageSize });
  }
}

/** The editor opens with both sides, and the person leaves the lines of the result. */
const editHunk = (shell: Shell, { source, run }: ConflictHunk): Promise<string> => {
  const lines = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  return editText(shell, { name: 'hunk.txt', text: `${lines(source.text)}${lines(run.text)}` });
};
