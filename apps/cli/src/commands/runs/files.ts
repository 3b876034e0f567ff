import type { Command } from 'commander';
import { findSnapshot } from '../../find-snapshot.ts';
import { table } from '../../output/layout.ts';
import { nameText } from '../../output/plain.ts';
import { unknownText } from '../../output/unknown-text.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export const atOption = [
  '--at <snapshot|step>',
  'at a snapshot, or after the step with this number or id (default: now)',
] as const;

export function listFilesCommand(shell: Shell): Command {
  return apiCommand('files', 'list the files of the workspace')
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
}
