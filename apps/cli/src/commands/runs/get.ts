import type { Command } from 'commander';
import { runText } from '../../output/run-text.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function getRunCommand(shell: Shell): Command {
  return apiCommand('get', 'show one run')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const run = await (await shell.connect(url)).getRun(runId);
      if (json) return shell.printJson(run);
      for (const line of runText(run, { colors: shell.colors, now: Date.now() })) shell.print(line);
    });
}
