import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { apiCommand } from '../options.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './digest-option.ts';

export function respondCommand(shell: Shell): Command {
  const command = apiCommand('respond', 'answer a question, or answer in place of running the call')
    .argument('<approval>', 'id of the approval')
    .argument('<message>', 'the answer; - reads standard input');
  return withDigest(command).action(
    async (approvalId: string, message: string, { url, ...options }: DecisionOptions) => {
      const text = message === '-' ? (await shell.readInput()).trimEnd() : message;
      const client = await shell.connect(url);
      await decide({ shell, client }, { approvalId, decision: 'respond', message: text, ...options });
    },
  );
}
