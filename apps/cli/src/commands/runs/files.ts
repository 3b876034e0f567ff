import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Snapshot } from '@holdpoint/contract/wire';
import { type Command, Option } from 'commander';
import { findSnapshot } from '../../find-named.ts';
import { ago, counted, nameText, table, unknownText } from '../../output/index.ts';
import { sayEndOfPage } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, CliError, count, type Shell } from '../../shell/index.ts';

interface ListOptions extends ApiOptions {
  newestFirst?: true;
  limit?: number;
  cursor?: string;
}

export const listSnapshotsCommand = (shell: Shell) =>
  apiCommand('snapshots', 'list the snapshots of a run, oldest first')
    .argument('<run>', 'id of the run')
    .option('--newest-first', 'begin with the files as they are now')
    .option('--limit <n>', 'list at most this many', count)
    .option('--cursor <cursor>', 'continue an earlier list')
    .action(async (runId: string, { url, json, newestFirst, limit, cursor }: ListOptions) => {
      const query = { limit, cursor, order: newestFirst ? ('desc' as const) : undefined };
      const page = await (await shell.connect(url)).listSnapshots(runId, query);
      if (json) return shell.printJson(page);
      const now = Date.now();
      const rows = page.data.map((snapshot) => rowOf(snapshot, now));
      const head = [{ id: 'SNAPSHOT' }, 'STEP', { id: 'AFTER' }, 'CHANGED', 'TAKEN', ''];
      for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
      sayEndOfPage(shell, page);
    });

function rowOf({ id, parent, step, task_id, files_changed, time, current, undone }: Snapshot, now: number): string[] {
  const other = parent === null ? 'the beginning' : 'background commands';
  return [
    id,
    parent === null ? '0' : (step?.number?.toString() ?? '-'),
    step === null ? (task_id ?? other) : nameText(step.tool),
    counted(files_changed, 'file'),
    ago(time, now),
    current ? '<- here' : undone ? 'undone' : '',
  ];
}

const atOption = [
  '--at <snapshot|step>',
  'at a snapshot, or after the step with this number or id (default: now)',
] as const;

export const listFilesCommand = (shell: Shell) =>
  apiCommand('files', 'list the files of the workspace')
    .argument('<run>', 'id of the run')
    .argument('[path]', 'only this file, or files in this folder')
    .option(...atOption)
    .action(async (runId: string, path: string | undefined, { url, json, at }: ApiOptions & { at?: string }) => {
      const client = await shell.connect(url);
      const wanted = { path, snapshot: await findSnapshot(client, runId, at) };
      const [files, unknown] = await Promise.all([client.listFiles(runId, wanted), client.listUnknown(runId, wanted)]);
      if (json) return shell.printJson({ data: files, unknown });
      for (const line of unknownText(unknown, shell.colors)) shell.say(line);
      if (files.length === 0) return shell.say('No files.');
      const rows = files.map((file) => [file.mode, String(file.bytes), nameText(file.path)]);
      for (const line of table(['MODE', 'BYTES', 'PATH'], rows)) shell.print(line);
    });

export const readFileCommand = (shell: Shell) =>
  apiCommand('cat', 'print a file of the workspace unchanged')
    .argument('<run>', 'id of the run')
    .argument('<path>', 'path in the workspace')
    .option(...atOption)
    .action(async (runId: string, path: string, { url, json, at }: ApiOptions & { at?: string }) => {
      const client = await shell.connect(url);
      const bytes = await client.readFile(runId, { path, snapshot: await findSnapshot(client, runId, at) });
      if (!json) return shell.pipe(bytes);
      const chunks: Uint8Array[] = [];
      for await (const chunk of bytes) chunks.push(chunk);
      const content = Buffer.concat(chunks);
      shell.printJson({ path, bytes: content.length, base64: content.toString('base64') });
    });

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
