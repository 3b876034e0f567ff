import type { HunkChoice } from '@holdpoint/contract';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Choice, conflictsOf, toArgs } from '../../deciding/conflicts.ts';
import { apiCommand, CliError, readText, type Shell, several } from '../../shell/index.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './decisions.ts';

interface ResolveOptions extends DecisionOptions {
  runLines?: string[];
  sourceLines?: string[];
  hunk?: GivenHunk[];
  run?: string[];
  source?: string[];
  text?: { path: string; file: string }[];
  others?: Others;
}

/** A choice for a hunk, in the user's form: `@file` is the text of a local file. */
interface GivenHunk {
  path: string;
  hunk: number;
  what: string;
}

const others = ['run_lines', 'source_lines', 'run', 'source'] as const;
type Others = (typeof others)[number];

type Chosen = Map<string, Choice>;

export function resolveCommand(shell: Shell): Command {
  const command = apiCommand('resolve', 'resolve the conflicts of a publish, by lines or as whole files')
    .argument('<approval>', 'id of the approval')
    .option('--run-lines <path>', "take the run's lines in every hunk without --hunk; may be repeated", several)
    .option('--source-lines <path>', "take the source's lines in every hunk without --hunk; may be repeated", several)
    .option('--hunk <path:n=choice>', 'for one hunk: run, source, both or @FILE; may be repeated', hunkOf)
    .option('--run <path>', "take the run's whole file; may be repeated", several)
    .option('--source <path>', "keep the source's whole file; may be repeated", several)
    .option('--text <path=file>', 'take the text of this file; may be repeated', pathAndFile)
    .addOption(new Option('--others <choice>', 'for all other files').choices(others))
    .option('--message <text>', 'note for the log');
  return withDigest(command).action(async (approvalId: string, options: ResolveOptions) => {
    const { url, message, digest, json } = options;
    const chosen = await choicesOf(shell, options);
    const client = await shell.connect(url);
    const args = (shown: Approval) => argsFor(shown, chosen, options.others);
    await decide({ shell, client }, { approvalId, decision: 'edit', args, digest, json, message });
  });
}

async function choicesOf(shell: Shell, options: ResolveOptions): Promise<Chosen> {
  const { run = [], source = [], text = [], runLines = [], sourceLines = [] } = options;
  const hunks = await hunksByPath(shell, options.hunk ?? []);
  const chosen: Chosen = new Map();
  const choose = (path: string, choice: Choice): void => {
    if (chosen.has(path)) throw new CliError('usage', `${path} is given more than once.`);
    chosen.set(path, choice);
  };
  for (const path of runLines) choose(path, { take: 'run_lines', hunks: hunks.get(path) ?? [] });
  for (const path of sourceLines) choose(path, { take: 'source_lines', hunks: hunks.get(path) ?? [] });
  for (const [path, of] of hunks) {
    if (!runLines.includes(path) && !sourceLines.includes(path)) choose(path, { take: 'hunks', hunks: of });
  }
  for (const path of run) choose(path, { take: 'run' });
  for (const path of source) choose(path, { take: 'source' });
  for (const { path, file } of text) choose(path, { take: 'text', text: await readText(shell.config.cwd, file) });
  return chosen;
}

async function hunksByPath(shell: Shell, given: readonly GivenHunk[]): Promise<Map<string, HunkChoice[]>> {
  const found = new Map<string, HunkChoice[]>();
  for (const { path, hunk, what } of given) {
    const choice: HunkChoice = what.startsWith('@')
      ? { hunk, take: 'text', text: await readText(shell.config.cwd, what.slice(1)) }
      : { hunk, take: what as 'run' | 'source' | 'both' };
    found.set(path, [...(found.get(path) ?? []), choice]);
  }
  return found;
}

/** @throws CliError `usage` when a choice is missing, or names a file without a conflict */
export function argsFor(
  shown: Approval,
  chosen: ReadonlyMap<string, Choice>,
  rest: Others | undefined,
): NonNullable<Decide['args']> {
  const conflicts = conflictsOf(shown);
  const paths = conflicts.map(({ path }) => path);
  const unknown = [...chosen.keys()].filter((path) => !paths.includes(path));
  if (unknown.length > 0) throw new CliError('usage', `There is no conflict at ${unknown.join(', ')}.`);
  return toArgs(conflicts, ({ path }) => {
    const choice = chosen.get(path) ?? (rest && { take: rest });
    if (choice) return choice;
    throw new CliError('usage', `Nothing is chosen for ${path}.`, {
      next: 'Name it with --run-lines, --source-lines, --hunk, --run, --source or --text.',
    });
  });
}

function hunkOf(text: string, before: GivenHunk[] = []): GivenHunk[] {
  const [, path, number, what] = /^(.+):(\d+)=(run|source|both|@.+)$/s.exec(text) ?? [];
  if (path === undefined || what === undefined)
    throw new InvalidArgumentError('Expected path:n=run|source|both|@FILE.');
  return [...before, { path, hunk: Number(number), what }];
}

function pathAndFile(text: string, before: { path: string; file: string }[] = []): { path: string; file: string }[] {
  // A path in a workspace may contain "="; the name of a local file rarely does.
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Expected path=file.');
  return [...before, { path: text.slice(0, at), file: text.slice(at + 1) }];
}
