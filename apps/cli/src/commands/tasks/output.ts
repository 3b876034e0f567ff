import { isTaskOver } from '@holdpoint/contract';
import { type Command, Option } from 'commander';
import { plain } from '../../output/plain.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

interface OutputOptions extends ApiOptions {
  stream: 'stdout' | 'stderr';
  follow?: boolean;
}

const waitSeconds = 20;

export function taskOutputCommand(shell: Shell): Command {
  return apiCommand('output', 'print the output of a background command')
    .argument('<task>', 'id of the task')
    .addOption(new Option('--stream <name>', 'stdout or stderr').choices(['stdout', 'stderr']).default('stdout'))
    .option('--follow', 'continue until the command ends')
    .action(async (taskId: string, { url, json, stream, follow = false }: OutputOptions) => {
      const client = await shell.connect(url);
      for (let cursor = 0; ; ) {
        const page = await client.readTaskOutput(taskId, { stream, cursor, wait_s: follow ? waitSeconds : 0 });
        if (page.omitted_bytes > 0) shell.say(`[… ${page.omitted_bytes} bytes were not kept …]`);
        if (json) shell.printJson(page);
        else if (page.text !== '') shell.write(shell.stdoutIsTerminal ? plain(page.text) : page.text);
        cursor = page.next_cursor;
        const isAll = cursor >= page.total_bytes;
        if (isAll && (!follow || isTaskOver(page.status))) return;
      }
    });
}
