import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { readYaml } from '@holdpoint/policy';
import { hasUnseen, plainJson } from '@holdpoint/readable';
import { stringify } from 'yaml';
import { CliError, type Shell } from '../../shell/index.ts';

type Args = NonNullable<Decide['args']>;

/**
 * Lets a person change the arguments of a call in `$VISUAL` or `$EDITOR`, as YAML; JSON is YAML, too.
 *
 * @param draft the person's last text, which the editor shows again after a mistake
 * @returns undefined when nothing was changed
 * @throws CliError `usage` when the editor failed or its text is no mapping
 */
export async function editArgs(
  shell: Shell,
  { action }: Pick<Approval, 'action'>,
  draft: { text?: string } = {},
): Promise<Args | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'holdpoint-edit-'));
  const file = join(directory, 'arguments.yaml');
  try {
    await writeFile(file, draft.text ?? textOf(action.args), { mode: 0o600 });
    await openEditor(shell, file);
    draft.text = await readFile(file, 'utf8');
    const args = argsIn(draft.text);
    return isDeepStrictEqual(args, action.args) ? undefined : args;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const head =
  '# The arguments of the call. Save and leave the editor to run it with these; without a change nothing is decided.\n';

/** Characters that an editor may not show are written as escapes, which only JSON has for all of them. */
function textOf(args: unknown): string {
  const yaml = stringify(args, { lineWidth: 0, blockQuote: 'literal' });
  return head + (hasUnseen(yaml) ? plainJson(args, 2) : yaml);
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

const nextOfEditor = 'Nothing was decided. Choose edit again: the editor opens with your text.';

/** @throws CliError `usage` */
function argsIn(text: string): Args {
  const read = readYaml(text);
  if (!read.ok) throw new CliError('usage', `This is neither YAML nor JSON: ${read.detail}`, { next: nextOfEditor });
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Args;
  throw new CliError('usage', 'The arguments are a mapping of names to values.', { next: nextOfEditor });
}
