import type { Command } from 'commander';
import { commandLine } from '../../command-name.ts';
import { exitCodes } from '../../exit-codes.ts';
import { stepReference } from '../../find-snapshot.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

interface RetryOptions extends ApiOptions {
  fromStep?: string;
  keepExternalEffects?: boolean;
  acceptNewVersion?: boolean;
}

export function retryRunCommand(shell: Shell): Command {
  return apiCommand('retry', 'let a failed, canceled or paused run go on from one of its steps, which is made again')
    .argument('<run>', 'id of the run')
    .option(
      '--from-step <step>',
      'the first step that is made again: its number in `runs steps`, or its id (default: the first of the last turn that did not succeed)',
    )
    .option('--keep-external-effects', 'also when a step had effects outside of the workspace, which stay')
    .option('--accept-new-version', 'also when tools are not what they were when the run began')
    .action(async (runId: string, { url, json, ...options }: RetryOptions) => {
      const client = await shell.connect(url);
      const { run, undone, restored } = await client.retryRun(runId, {
        ...(options.fromStep === undefined ? {} : { from_step: stepReference(options.fromStep) }),
        keep_external_effects: options.keepExternalEffects ?? false,
        accept_new_version: options.acceptNewVersion ?? false,
      });
      if (!restored) shell.exitCode = exitCodes.timeout;
      if (json) return shell.printJson({ run, undone, restored });
      shell.print(
        `${run.id} is ${run.status}; made again: ${undone.length === 1 ? 'one step' : `${undone.length} steps`}`,
      );
      if (!restored) shell.say('No worker has brought its files back yet; nothing of the run starts before that.');
      shell.say(`follow:   ${commandLine('watch', run.id)}`);
    });
}
