import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function discardRunCommand(shell: Shell): Command {
  return apiCommand('discard', 'remove the workspace of an ended run; its log stays')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const publication = await (await shell.connect(url)).discard(runId);
      if (json) return shell.printJson(publication);
      shell.print(
        `${runId}: ${publication.status === 'discarding' ? 'its workspace is being removed' : publication.status}`,
      );
    });
}
