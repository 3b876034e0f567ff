import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import { listStepsCommand } from '../runs/inspect.ts';
import { cancelStepCommand } from './cancel.ts';
import { showStepCommand } from './show.ts';

export function stepsGroup(shell: Shell): Command {
  const steps = new Command('steps').description('the calls of a run');
  steps.addCommand(listStepsCommand(shell, 'list'));
  steps.addCommand(showStepCommand(shell));
  steps.addCommand(cancelStepCommand(shell));
  return steps;
}
