import type { Approval, Decide } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { apiCommand, CliError, type Shell, several } from '../../shell/index.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './decisions.ts';
import { readText } from './read-text.ts';
import { type Choice, conflictsOf, toArgs } from './resolutions.ts';

interface ResolveOptions extends DecisionOptions {
  run?: string[];
  source?: string[];
  text?: { path: string; file: string }[];
  others?: 'run' | 'source';
}

type Chosen = Map<string, Choice>;

export function resolveCommand(shell: Shell): Command {
  const command = apiCommand('resolve', 'resolve the conflicts of a publish, file by file')
    .argument('<approval>', 'id of the approval')
    .option('--run <path>', "take the run's version; may be repeated", several)
    .option('--source <path>', "keep the source's version; may be repeated", several)
    .option('--text <path=file>', 'take the text of this file; may be repeated', pathAndFile)
    .addOption(new Option('--others <version>', 'take this version of all other files').choices(['run', 'source']))
    .option('--message <text>', 'note for the log');
  return withDigest(command).action(async (approvalId: string, options: ResolveOptions) => {
    const { url, message, digest, json, others } = options;
    const chosen = await choicesOf(shell, options);
    const client = await shell.connect(url);
    const args = (shown: Approval) => argsFor(shown, chosen, others);
    await decide({ shell, client }, { approvalId, decision: 'edit', args, digest, json, message });
  });
}

async function choicesOf(shell: Shell, { run = [], source = [], text = [] }: ResolveOptions): Promise<Chosen> {
  const chosen: Chosen = new Map();
  const choose = (path: string, choice: Choice): void => {
    if (chosen.has(path)) throw new CliError('usage', `${path} is given more than once.`);
    chosen.set(path, choice);
  };
  for (const path of run) choose(path, { take: 'run' });
  for (const path of source) choose(path, { take: 'source' });
  for (const { path, file } of text) {
    choose(path, { take: 'text', text: await readText(shell.config.cwd, file) });
  }
  return chosen;
}

function argsFor(shown: Approval, chosen: Chosen, others: 'run' | 'source' | undefined): NonNullable<Decide['args']> {
  const conflicts = conflictsOf(shown);
  const paths = conflicts.map(({ path }) => path);
  const unknown = [...chosen.keys()].filter((path) => !paths.includes(path));
  if (unknown.length > 0) throw new CliError('usage', `There is no conflict at ${unknown.join(', ')}.`);
  return toArgs(conflicts, (path) => {
    const choice = chosen.get(path) ?? (others && { take: others });
    if (choice) return choice;
    throw new CliError('usage', `No version is chosen for ${path}.`, {
      next: 'Name it with --run, --source or --text.',
    });
  });
}

function pathAndFile(text: string, before: { path: string; file: string }[] = []): { path: string; file: string }[] {
  // A path in a workspace may contain "="; the name of a local file rarely does.
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Expected path=file.');
  return [...before, { path: text.slice(0, at), file: text.slice(at + 1) }];
}
