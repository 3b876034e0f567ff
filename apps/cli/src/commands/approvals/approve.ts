import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { apiCommand } from '../options.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './digest-option.ts';

export function approveCommand(shell: Shell): Command {
  const command = apiCommand('approve', 'approve a held call or publish exactly as shown')
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'note for the log');
  return withDigest(command).action(async (approvalId: string, options: DecisionOptions & { message?: string }) => {
    const { url, message, ...rest } = options;
    const client = await shell.connect(url);
    await decide({ shell, client }, { approvalId, decision: 'approve', message, ...rest });
  });
}
