import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { readYaml } from '@holdpoint/policy';
import { hasUnseen, plainJson } from '@holdpoint/readable';
import { stringify } from 'yaml';
import { CliError, type Shell } from '../shell/index.ts';

/** Lets a person change a text in `$VISUAL` or `$EDITOR`. @throws CliError `usage` when the editor failed */
export async function editText(shell: Shell, { name, text }: { name: string; text: string }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'holdpoint-edit-'));
  const file = join(directory, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    await openEditor(shell, file);
    return await readFile(file, 'utf8');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function openEditor({ config }: Shell, file: string): Promise<void> {
  const { VISUAL, EDITOR } = config.environment;
  const editor = VISUAL ?? EDITOR ?? 'vi';
  // As git does: the variable is a command line.
  const { execa } = await import('execa');
  const { failed, exitCode } = await execa('sh', ['-c', `${editor} "$@"`, editor, file], {
    stdio: 'inherit',
    reject: false,
    cwd: config.cwd,
  });
  if (!failed) return;
  throw new CliError('usage', `The editor ${editor} ended with ${exitCode ?? 'a signal'}: nothing was decided.`, {
    next: 'Set EDITOR to a command that edits a file, such as nano.',
  });
}

type Args = NonNullable<Decide['args']>;

/**
 * Lets a person change the arguments of a call in `$VISUAL` or `$EDITOR`, as YAML; JSON is YAML, too.
 *
 * @param draft the person's last text, shown again in the editor after a mistake
 * @returns undefined without a change
 * @throws CliError `usage` when the editor failed or its text is no mapping
 */
export async function editArgs(
  shell: Shell,
  { action }: Pick<Approval, 'action'>,
  draft: { text?: string } = {},
): Promise<Args | undefined> {
  draft.text = await editText(shell, { name: 'arguments.yaml', text: draft.text ?? textOf(action.args) });
  const args = argsIn(draft.text);
  return isDeepStrictEqual(args, action.args) ? undefined : args;
}

const head =
  '# The arguments of the call. Save and leave the editor to run it with these; without a change nothing is decided.\n';

/** Characters invisible in an editor are written as escapes. Only JSON has escapes for all of them. */
function textOf(args: unknown): string {
  const yaml = stringify(args, { lineWidth: 0, blockQuote: 'literal' });
  return head + (hasUnseen(yaml) ? plainJson(args, 2) : yaml);
}

const nextOfEditor = 'Nothing was decided. Choose edit again: the editor opens with your text.';

/** @throws CliError `usage` */
function argsIn(text: string): Args {
  const read = readYaml(text);
  if (!read.ok)
    throw new CliError('usage', `The edited arguments are neither YAML nor JSON: ${read.detail}`, {
      next: nextOfEditor,
    });
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Args;
  throw new CliError('usage', 'The edited arguments are no mapping of names to values.', { next: nextOfEditor });
}
