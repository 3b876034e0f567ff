import { runStatusSchema } from '@holdpoint/contract';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { runTable } from '../../output/run-text.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand, count } from '../options.ts';

interface ListOptions extends ApiOptions {
  status?: z.infer<typeof statusesSchema>;
  label?: string;
  limit: number;
  cursor?: string;
}

export function listRunsCommand(shell: Shell): Command {
  return apiCommand('list', 'list runs, newest first')
    .option('--status <status,…>', 'only runs with this status', statuses)
    .option('--label <name=value>', 'only runs with this label')
    .option('--limit <n>', 'list at most this many', count, 20)
    .option('--cursor <cursor>', 'continue an earlier list')
    .action(async ({ url, json, status, label, limit, cursor }: ListOptions) => {
      const client = await shell.connect(url);
      const page = await client.listRuns({
        limit,
        cursor,
        status,
        label: label?.replace('=', ':'),
      });
      if (json) return shell.printJson(page);
      if (page.data.length === 0) return shell.say('No runs.');
      for (const line of runTable(page.data, { colors: shell.colors, now: Date.now() })) shell.print(line);
      if (page.next_cursor !== null) shell.say(`There are more: --cursor ${page.next_cursor}`);
    });
}

const statusesSchema = z.array(runStatusSchema);

function statuses(text: string): z.infer<typeof statusesSchema> {
  const parsed = statusesSchema.safeParse(text.split(','));
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`Allowed: ${runStatusSchema.options.join(', ')}.`);
}
