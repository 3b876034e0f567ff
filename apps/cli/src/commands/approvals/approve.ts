import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { apiCommand } from '../options.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './digest-option.ts';

export function approveCommand(shell: Shell): Command {
  const command = apiCommand('approve', 'let a held call run, or a publish, exactly as it is shown')
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'words for the log');
  return withDigest(command).action(async (approvalId: string, options: DecisionOptions & { message?: string }) => {
    const { url, message, ...rest } = options;
    const client = await shell.connect(url);
    const words = message === undefined ? {} : { message };
    await decide({ shell, client }, { approvalId, decision: 'approve', ...words, ...rest });
  });
}
