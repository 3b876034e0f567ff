import type { Command } from 'commander';
import { findSnapshot } from '../../find-snapshot.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';
import { atOption } from './files.ts';

export function readFileCommand(shell: Shell): Command {
  return apiCommand('cat', 'print a file of the workspace unchanged')
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
}
