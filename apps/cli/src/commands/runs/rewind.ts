import type { Command } from 'commander';
import { stepReference } from '../../find-snapshot.ts';
import { commandLine, exitCodes, type Shell } from '../../shell/index.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

interface UndoOptions extends ApiOptions {
  toStep: string;
  keepExternalEffects?: boolean;
}

export function undoRunCommand(shell: Shell): Command {
  return apiCommand('undo', 'undo the last steps of a paused run and restore its files')
    .argument('<run>', 'id of the run')
    .requiredOption('--to-step <step>', 'last step to keep: its number in `runs steps`, or its id; 0 keeps none')
    .option('--keep-external-effects', 'also when a step had effects outside the workspace, which remain')
    .action(async (runId: string, { url, json, toStep, keepExternalEffects = false }: UndoOptions) => {
      const client = await shell.connect(url);
      const body = { to_step: stepReference(toStep), keep_external_effects: keepExternalEffects };
      const { run, undone, restored } = await client.undoSteps(runId, body);
      if (!restored) shell.exitCode = exitCodes.timeout;
      if (json) return shell.printJson({ run, undone, restored });
      shell.print(
        `${run.id} is ${run.status}; ${undone.length === 1 ? 'one step is' : `${undone.length} steps are`} undone`,
      );
      if (!restored) shell.say('No worker has restored its files yet; no step starts before that.');
      shell.say(`resume:   ${commandLine('runs', 'resume', run.id)}`);
    });
}

interface RetryOptions extends ApiOptions {
  fromStep?: string;
  keepExternalEffects?: boolean;
  acceptNewVersion?: boolean;
}

export function retryRunCommand(shell: Shell): Command {
  return apiCommand('retry', 'repeat a failed, canceled or paused run from one of its steps')
    .argument('<run>', 'id of the run')
    .option(
      '--from-step <step>',
      'first step to repeat: its number in `runs steps`, or its id (default: the first of the last turn that did not succeed)',
    )
    .option('--keep-external-effects', 'also when a step had effects outside the workspace, which remain')
    .option('--accept-new-version', 'also when the tools have changed since the run began')
    .action(async (runId: string, { url, json, ...options }: RetryOptions) => {
      const client = await shell.connect(url);
      const { run, undone, restored } = await client.retryRun(runId, {
        from_step: options.fromStep === undefined ? undefined : stepReference(options.fromStep),
        keep_external_effects: options.keepExternalEffects ?? false,
        accept_new_version: options.acceptNewVersion ?? false,
      });
      if (!restored) shell.exitCode = exitCodes.timeout;
      if (json) return shell.printJson({ run, undone, restored });
      shell.print(
        `${run.id} is ${run.status}; repeated: ${undone.length === 1 ? 'one step' : `${undone.length} steps`}`,
      );
      if (!restored) shell.say('No worker has restored its files yet; no step starts before that.');
      shell.say(`follow:   ${commandLine('watch', run.id)}`);
    });
}
