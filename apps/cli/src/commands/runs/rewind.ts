import type { Client } from '@holdpoint/client';
import { stepReference } from '../../find-named.ts';
import { counted } from '../../output/index.ts';
import { type ApiOptions, apiCommand, commandLine, exitCodes, type Shell } from '../../shell/index.ts';

interface UndoOptions extends ApiOptions {
  toStep: string;
  keepExternalEffects?: boolean;
}

export const undoRunCommand = (shell: Shell) =>
  apiCommand('undo', 'undo the last steps of a paused run and restore its files')
    .argument('<run>', 'id of the run')
    .requiredOption('--to-step <step>', 'last step to keep: its number in `runs steps`, or its id; 0 keeps none')
    .option('--keep-external-effects', 'also when a step had effects outside the workspace, which remain')
    .action(async (runId: string, { url, json, toStep, keepExternalEffects = false }: UndoOptions) => {
      const client = await shell.connect(url);
      const body = { to_step: await stepReference(client, runId, toStep), keep_external_effects: keepExternalEffects };
      printRewound(shell, await client.undoSteps(runId, body), {
        json,
        what: (steps) => `undone: ${counted(steps, 'step')}`,
        next: `resume:   ${commandLine('runs', 'resume', runId)}`,
      });
    });

interface RetryOptions extends ApiOptions {
  fromStep?: string;
  keepExternalEffects?: boolean;
  acceptNewVersion?: boolean;
}

export const retryRunCommand = (shell: Shell) =>
  apiCommand('retry', 'repeat a failed, canceled or paused run from one of its steps')
    .argument('<run>', 'id of the run')
    .option(
      '--from-step <step>',
      'first step to repeat: its number in `runs steps`, or its id (default: the first of the last turn that did not succeed)',
    )
    .option('--keep-external-effects', 'also when a step had effects outside the workspace, which remain')
    .option('--accept-new-version', 'also when the tools have changed since the run began')
    .action(async (runId: string, { url, json, ...options }: RetryOptions) => {
      const client = await shell.connect(url);
      const rewound = await client.retryRun(runId, {
        from_step: options.fromStep === undefined ? undefined : await stepReference(client, runId, options.fromStep),
        keep_external_effects: options.keepExternalEffects ?? false,
        accept_new_version: options.acceptNewVersion ?? false,
      });
      printRewound(shell, rewound, {
        json,
        what: (steps) => `repeated: ${counted(steps, 'step')}`,
        next: `follow:   ${commandLine('watch', runId)}`,
      });
    });

function printRewound(
  shell: Shell,
  { run, undone, restored }: Awaited<ReturnType<Client['undoSteps']>>,
  { json, what, next }: { json?: boolean; what: (steps: number) => string; next: string },
): void {
  if (!restored) shell.exitCode = exitCodes.timeout;
  if (json) {
    shell.printJson({ run, undone, restored });
    return;
  }
  shell.print(`${run.id} is ${run.status}; ${what(undone.length)}`);
  if (!restored) shell.say('No worker has restored its files yet; no step starts before that.');
  shell.say(next);
}
