import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { apiCommand } from '../options.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './digest-option.ts';

export function rejectCommand(shell: Shell): Command {
  const command = apiCommand(
    'reject',
    'refuse a held call, and the run is told so and goes on; or a publish, and nothing is published',
  )
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'why, for the planner');
  return withDigest(command).action(async (approvalId: string, options: DecisionOptions & { message?: string }) => {
    const { url, message, ...rest } = options;
    const client = await shell.connect(url);
    const words = message === undefined ? {} : { message };
    await decide({ shell, client }, { approvalId, decision: 'reject', ...words, ...rest });
  });
}
