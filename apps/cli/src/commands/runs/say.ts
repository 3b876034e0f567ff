import type { Command } from 'commander';
import { CliError } from '../../errors.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

interface SayOptions extends ApiOptions {
  idempotencyKey?: string;
}

export function sayToRunCommand(shell: Shell): Command {
  return apiCommand('say', 'send a message to a run: its model reads it before the next turn')
    .argument('<run>', 'id of the run')
    .argument('<text>', 'the message, in quotes')
    .option('--idempotency-key <key>', 'repeating this key sends the message once')
    .action(async (runId: string, text: string, { url, json, idempotencyKey }: SayOptions) => {
      if (text.trim() === '') throw new CliError('usage', 'The message is empty.');
      const client = await shell.connect(url);
      const sent = await client.sendMessage(runId, text, { idempotencyKey });
      if (json) return shell.printJson(sent);
      shell.print(sent.message_id);
      const run = await client.getRun(runId);
      if (run.planner === 'scripted') shell.say('It is in the log; a scripted plan does not read messages.');
    });
}
