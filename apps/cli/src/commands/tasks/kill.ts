import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function killTaskCommand(shell: Shell): Command {
  return apiCommand('kill', 'kill a background command and its processes, or cancel a sub-agent')
    .argument('<task>', 'id of the task')
    .action(async (taskId: string, { url, json }: ApiOptions) => {
      const task = await (await shell.connect(url)).killTask(taskId);
      if (json) return shell.printJson(task);
      shell.print(`${task.id} ${task.ended_at === null ? 'is being killed' : `is ${task.status}`}`);
    });
}
