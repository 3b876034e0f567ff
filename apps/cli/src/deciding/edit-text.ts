import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
