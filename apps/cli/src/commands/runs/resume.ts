import type { Command } from 'commander';
import { commandLine } from '../../command-name.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

interface ResumeOptions extends ApiOptions {
  acceptNewVersion?: boolean;
}

export function resumeRunCommand(shell: Shell): Command {
  return apiCommand('resume', 'resume a paused run and its paused sub-agents; limits count from zero again')
    .argument('<run>', 'id of the run')
    .option('--accept-new-version', 'also when the tools have changed since the run began')
    .action(async (runId: string, { url, json, acceptNewVersion = false }: ResumeOptions) => {
      const run = await (await shell.connect(url)).resumeRun(runId, { accept_new_version: acceptNewVersion });
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
      shell.say(`follow:   ${commandLine('watch', run.id)}`);
    });
}
