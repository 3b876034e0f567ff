import type { Command } from 'commander';
import { commandLine } from '../../command-name.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function resumeRunCommand(shell: Shell): Command {
  return apiCommand('resume', 'let a paused run go on from where it stopped')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const run = await (await shell.connect(url)).resumeRun(runId);
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
      shell.say(`follow:   ${commandLine('watch', run.id)}`);
    });
}
