/** `npm run tasks [-- --model PROVIDER/MODEL] [NAME…]`: has the tasks solved by their experts or by a model, and prints what each needed. */
import { startSystem } from '../harness/system.ts';
import { allTasks, missing, type NamedTask } from './all.ts';
import { openExpertServer } from './expert-server.ts';
import { nodeForCommands } from './node-for-commands.ts';
import { modelSettings, readOptions } from './options.ts';
import { printTable } from './print-table.ts';
import { tryTask } from './try-task.ts';

/** Runs at the same time. */
const sideBySide = 2;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const { model, tasks } = readOptions(process.argv.slice(2), await allTasks());
const possible = tasks.filter((task) => {
  const without = missing(task);
  if (without.length > 0) say(`skipped ${task.name}: this machine has no ${without.join(', ')}`);
  return without.length === 0;
});
await using experts = await openExpertServer(possible);
const env = {
  HOLDPOINT_MODEL: 'openai-compatible/expert',
  OPENAI_COMPATIBLE_BASE_URL: `${experts.url}/v1`,
  OPENAI_COMPATIBLE_API_KEY: 'no-secret',
};
await using system = await startSystem({
  ...nodeForCommands(),
  ...(model === undefined ? env : modelSettings(process.env)),
});
await system.startWorker();
const table = printTable(say, model === undefined);
const waiting = [...possible];
await Promise.all(Array.from({ length: sideBySide }, work));
if (!table.end()) process.exitCode = 1;

async function work(): Promise<void> {
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) table.add(await attempt(task));
}

async function attempt(task: NamedTask) {
  const { client, directory } = system;
  const resultsOf = model === undefined ? experts.resultsOf : undefined;
  return tryTask({ client, directory, model, resultsOf }, task);
}
