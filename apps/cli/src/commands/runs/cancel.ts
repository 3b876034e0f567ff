import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function cancelRunCommand(shell: Shell): Command {
  return apiCommand('cancel', 'cancel a run: kill running steps, drop queued ones')
    .argument('<run>', 'id of the run')
    .option('--message <text>', 'reason, for the log')
    .action(async (runId: string, { url, json, message }: ApiOptions & { message?: string }) => {
      const client = await shell.connect(url);
      const run = await client.cancelRun(runId, { message });
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
    });
}
