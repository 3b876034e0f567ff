import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { findSnapshot } from '../../find-step.ts';
import { type ApiOptions, apiCommand, CliError, type Shell } from '../../shell/index.ts';
import { atOption } from './files.ts';

interface DownloadOptions extends ApiOptions {
  at?: string;
  changed?: true;
  format?: 'tar.gz' | 'zip';
  output?: string;
}

export const downloadRunCommand = (shell: Shell): Command =>
  apiCommand('download', 'download the files of the workspace as an archive')
    .argument('<run>', 'id of the run')
    .option('--changed', 'only files that the run added or changed')
    .option(...atOption)
    .addOption(
      new Option('--format <format>', 'format of the archive (default: that of --output, or tar.gz)').choices([
        'tar.gz',
        'zip',
      ]),
    )
    .option('--output <file>', 'a new file; - is standard output (default: <run>.tar.gz in this directory)')
    .action(async (runId: string, options: DownloadOptions) => {
      const { url, json, at, changed, output } = options;
      const format = options.format ?? (output?.endsWith('.zip') ? 'zip' : 'tar.gz');
      if (output === '-' && json) throw new CliError('usage', 'Standard output takes the archive or --json, not both.');
      if (output === '-' && shell.stdoutIsTerminal)
        throw new CliError('usage', 'Refusing to write binary data to a terminal; use --output FILE.');
      const client = await shell.connect(url);
      const snapshot = await findSnapshot(client, runId, at);
      const bytes = await client.downloadArchive(runId, { snapshot, only: changed ? 'changed' : 'all', format });
      if (output === '-') return shell.pipe(bytes);
      const file = resolve(shell.config.cwd, output ?? `${runId}.${format}`);
      await save(bytes, file);
      const size = (await stat(file)).size;
      if (json) return shell.printJson({ file, bytes: size });
      shell.print(file);
    });

/** Writes the whole file or none. @throws CliError `file_exists`, `cannot_write` */
async function save(bytes: AsyncIterable<Uint8Array>, file: string): Promise<void> {
  const stream = createWriteStream(file, { flags: 'wx' });
  let isOurs = false;
  stream.once('open', () => {
    isOurs = true;
  });
  try {
    await pipeline(bytes, stream);
  } catch (cause) {
    if (isOurs) await rm(file, { force: true });
    else if (codeOf(cause) === 'EEXIST') throw new CliError('file_exists', `${file} exists already.`, { cause });
    const isOwn = cause instanceof Error && 'syscall' in cause;
    if (isOwn) throw new CliError('cannot_write', `${file} cannot be written: ${cause.message}`, { cause });
    throw cause;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
