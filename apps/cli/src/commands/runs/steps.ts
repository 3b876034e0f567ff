import type { Step } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { allSteps } from '../../all-steps.ts';
import { payloadValue, shortArgs } from '../../output/call-text.ts';
import { table } from '../../output/layout.ts';
import { nameText, oneLine } from '../../output/plain.ts';
import { duration } from '../../output/units.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function listStepsCommand(shell: Shell): Command {
  return apiCommand('steps', 'list the steps of a run in planned order')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const steps = await allSteps(await shell.connect(url), runId);
      if (json) return shell.printJson({ data: steps });
      if (steps.length === 0) return shell.say('No steps yet.');
      for (const line of table(['#', 'TURN', 'STEP', 'NAME', 'CALL', 'STATUS', 'TOOK'], steps.map(rowOf)))
        shell.print(line);
    });
}

const rowOf = (step: Step): string[] => [
  step.number?.toString() ?? '-',
  String(step.turn),
  step.id,
  oneLine(step.name ?? '', 64),
  `${nameText(step.tool)} ${shortArgs(payloadValue(step.args), 40)}`.trim(),
  `${step.status}${step.attempts > 1 ? ` (attempt ${step.attempts})` : ''}`,
  [
    step.duration_ms === null ? '' : duration(step.duration_ms),
    step.error === null ? '' : oneLine(`${step.error.code}: ${step.error.message}`, 80),
  ]
    .filter((text) => text !== '')
    .join('  '),
];
