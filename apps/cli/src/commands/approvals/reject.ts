import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { apiCommand } from '../options.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './digest-option.ts';

export function rejectCommand(shell: Shell): Command {
  const command = apiCommand(
    'reject',
    'reject a held call: the planner reads that and continues; or a held publish: nothing is published',
  )
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'reason, for the planner');
  return withDigest(command).action(async (approvalId: string, options: DecisionOptions & { message?: string }) => {
    const { url, message, ...rest } = options;
    const client = await shell.connect(url);
    await decide({ shell, client }, { approvalId, decision: 'reject', message, ...rest });
  });
}
