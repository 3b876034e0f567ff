import type { Command } from 'commander';
import { commandLine } from '../../command-name.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function pauseRunCommand(shell: Shell): Command {
  return apiCommand('pause', 'pause a run: running steps finish, no new step starts')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const run = await (await shell.connect(url)).pauseRun(runId);
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
      shell.say(`undo:     ${commandLine('runs', 'undo', run.id, '--to-step <number>')}`);
      shell.say(`resume:   ${commandLine('runs', 'resume', run.id)}`);
    });
}
