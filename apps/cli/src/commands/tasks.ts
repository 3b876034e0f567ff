import type { Client } from '@holdpoint/client';
import { isTaskOver } from '@holdpoint/contract';
import type { Task } from '@holdpoint/contract/wire';
import { Command, Option } from 'commander';
import { runsWithTasks, shortId } from '../naming/ids.ts';
import { duration, oneLine, plain, table } from '../output/index.ts';
import { sayDamaged } from '../output/layout.ts';
import { type ApiOptions, apiCommand, type Shell } from '../shell/index.ts';

export function tasksGroup(shell: Shell): Command {
  const tasks = new Command('tasks').description('background commands and sub-agents of a run');
  tasks.addCommand(listTasksCommand(shell));
  tasks.addCommand(taskOutputCommand(shell));
  tasks.addCommand(killTaskCommand(shell));
  return tasks;
}

export const listTasksCommand = (shell: Shell): Command =>
  apiCommand('list', 'list background commands and sub-agents of a run')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const client = await shell.connect(url);
      const tasks = await client.listTasks(runId, { onDamaged: (damaged) => sayDamaged(shell, { damaged }) });
      if (json) return shell.printJson({ data: tasks });
      if (tasks.length === 0) return shell.say('No tasks.');
      const head = [{ id: 'TASK' }, { text: 'WHAT' }, 'STATUS', { text: 'RESULT' }, 'TOOK'];
      const width = await widthFor(shell, client, runId);
      for (const line of table(
        head,
        tasks.map((task) => rowOf(task, width)),
        width,
      ))
        shell.print(line);
    });

/** A short id of a task is looked for in the latest runs only: those of an older run are written whole. */
async function widthFor({ tableWidth }: Shell, client: Client, runId: string): Promise<number | undefined> {
  if (tableWidth === undefined) return undefined;
  const { data } = await client.listRuns({ limit: runsWithTasks });
  return data.some(({ id }) => id === runId) ? tableWidth : undefined;
}

const childOf = ({ child }: Task, width: number | undefined): string =>
  child === null ? '' : `(${width === undefined ? child.run_id : shortId(child.run_id)})`;

const rowOf = (task: Task, width: number | undefined): string[] => [
  task.id,
  oneLine([task.agent && `${task.agent}:`, task.title, childOf(task, width)].filter(Boolean).join(' ')),
  task.status,
  oneLine(task.message ?? task.reason?.message ?? (task.exit_code === null ? '' : `exit code ${task.exit_code}`), 200),
  task.duration_ms === null ? '' : duration(task.duration_ms),
];

interface OutputOptions extends ApiOptions {
  stream: 'stdout' | 'stderr';
  follow?: boolean;
}

const waitSeconds = 20;

export const taskOutputCommand = (shell: Shell): Command =>
  apiCommand('output', 'print the output of a background command')
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

export const killTaskCommand = (shell: Shell): Command =>
  apiCommand('kill', 'kill a background command and its processes, or cancel a sub-agent')
    .argument('<task>', 'id of the task')
    .action(async (taskId: string, { url, json }: ApiOptions) => {
      const task = await (await shell.connect(url)).killTask(taskId);
      if (json) return shell.printJson(task);
      shell.print(`${task.id} ${task.ended_at === null ? 'is being killed' : `is ${task.status}`}`);
    });
