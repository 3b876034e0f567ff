import type { ForkRun } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { defined } from '../../defined.ts';
import { stepReference } from '../../find-snapshot.ts';
import { placeInPlan } from '../../plan/place-error.ts';
import { readPlan } from '../../plan/read-plan.ts';
import type { Shell } from '../../shell.ts';
import { followSubmitted, type SubmitOptions, withSubmitOptions } from '../follow-submitted.ts';
import { type ApiOptions, apiCommand, label, several } from '../options.ts';

interface ForkOptions extends ApiOptions, SubmitOptions {
  fromStep: string;
  plan?: string;
  model?: string;
  validate?: string[];
  label?: Record<string, string>;
  title?: string;
}

export function forkRunCommand(shell: Shell): Command {
  const command = apiCommand('fork', 'a new run that goes on after a step of this one, with its files as they were')
    .argument('<run>', 'id of the run; it stays as it is')
    .requiredOption('--from-step <step>', 'the last step that is kept: its number in `runs steps`, or its id; 0: none')
    .option(
      '--plan <file>',
      'of a scripted run: another plan, whose kept groups are as they were; - reads standard input',
    )
    .option('--model <provider/model>', 'of a task: another model')
    .option(
      '--validate <command>',
      'must succeed before a publish; may be given several times (default: as it was)',
      several,
    )
    .option('--label <name=value>', 'may be given several times (default: as they were)', label)
    .option('--title <text>', 'for lists (default: as it was)');
  return withSubmitOptions(command).action(async (runId: string, options: ForkOptions) => {
    const { cwd } = shell.config;
    const { title, model, label: labels, validate, idempotencyKey } = options;
    const plan =
      options.plan === undefined ? undefined : await readPlan({ cwd, file: options.plan, readInput: shell.readInput });
    const { toolset, network, ...file } = plan?.file ?? {};
    if (toolset !== undefined || network !== undefined) {
      shell.say('Its toolset and its network stay as they were, whatever the plan says.');
    }
    const validators = validate?.map((one) => ({ command: one }));
    const body: ForkRun = {
      ...defined(file),
      ...defined({ title, model, labels, validators }),
      from_step: stepReference(options.fromStep),
    };
    const client = await shell.connect(options.url);
    const forked = await client.forkRun(runId, body, { idempotencyKey }).catch((error: unknown) => {
      throw placeInPlan(error, plan, Object.keys(file));
    });
    await followSubmitted({ shell, client }, forked, options);
  });
}
