import { stepIdSchema } from '@holdpoint/contract';
import { Command } from 'commander';
import { type ConfirmOptions, isSure, withYes } from '../../deciding/confirm.ts';
import { findStep } from '../../find-named.ts';
import { oneLine } from '../../output/index.ts';
import { type ApiOptions, apiCommand, CliError, type Shell } from '../../shell/index.ts';
import { listStepsCommand } from '../runs/inspect.ts';
import { showStepCommand } from './show.ts';

export function stepsGroup(shell: Shell): Command {
  const steps = new Command('steps').description('the calls of a run');
  steps.addCommand(listStepsCommand(shell, 'list'));
  steps.addCommand(showStepCommand(shell));
  steps.addCommand(cancelStepCommand(shell));
  return steps;
}

interface CancelOptions extends ApiOptions, ConfirmOptions {
  message?: string;
}

export const cancelStepCommand = (shell: Shell): Command =>
  withYes(apiCommand('cancel', 'cancel one call of a run; the run and its other calls continue'))
    .argument('[run]', 'id of the run; not needed with the whole id of the step')
    .argument('[step]', 'its number in `runs steps`, its id or name')
    .option('--message <text>', 'reason, for the log and the model')
    .action(async (...[run, named, options]: [string | undefined, string | undefined, CancelOptions]) => {
      const { url, json, message, yes } = options;
      const client = await shell.connect(url);
      const id = isStepId(run) && named === undefined ? run : (await findIn(run, named)).id;
      const what = async () => {
        const { tool, status } = await client.getStep(id);
        return `Cancel ${id} (${oneLine(tool, 60)}, ${status})?`;
      };
      if (!(await isSure(shell, { yes, json }, what))) return;
      const step = await client.cancelStep(id, { message });
      if (json) return shell.printJson(step);
      shell.print(`${step.id} ${step.settled_at === null ? 'is being canceled' : `is ${step.status}`}`);

      async function findIn(runId: string | undefined, step: string | undefined) {
        if (runId === undefined || step === undefined) {
          throw new CliError('usage', 'Name the run and the step, or the step by its whole id.');
        }
        return findStep(client, runId, step);
      }
    });

const isStepId = (text: string | undefined): text is string => stepIdSchema.safeParse(text).success;
