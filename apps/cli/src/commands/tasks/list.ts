import type { Task } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { table } from '../../output/layout.ts';
import { oneLine } from '../../output/plain.ts';
import { duration } from '../../output/units.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function listTasksCommand(shell: Shell): Command {
  return apiCommand('list', 'list background commands and sub-agents of a run')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const tasks = await (await shell.connect(url)).listTasks(runId);
      if (json) return shell.printJson({ data: tasks });
      if (tasks.length === 0) return shell.say('No tasks.');
      for (const line of table(['TASK', 'WHAT', 'STATUS', 'RESULT', 'TOOK'], tasks.map(rowOf))) shell.print(line);
    });
}

const rowOf = (task: Task): string[] => [
  task.id,
  oneLine(task.child === null ? task.title : `${task.title} (${task.child.run_id})`, 60),
  task.status,
  oneLine(task.message ?? task.reason?.message ?? (task.exit_code === null ? '' : `exit code ${task.exit_code}`), 60),
  task.duration_ms === null ? '' : duration(task.duration_ms),
];
