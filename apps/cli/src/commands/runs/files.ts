import type { Snapshot } from '@holdpoint/contract/wire';
import { findSnapshot } from '../../find-step.ts';
import { ago, counted, nameText, table, unknownText } from '../../output/index.ts';
import { sayEndOfPage } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, count, type Shell } from '../../shell/index.ts';

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

export const atOption = [
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
