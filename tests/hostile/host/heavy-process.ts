/**
 * Program: a whole Holdpoint does heavy work; prints for each piece what came of it, and how the event loops of worker and API were held
 * up, as JSON. Arguments: names of the pieces, as JSON; empty: all.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSystem } from '../../harness/system.ts';
import { heavyWork } from './heavy-work.ts';

const names: string[] = JSON.parse(process.argv[2] ?? '[]');
await using system = await startSystem({}, {});
await system.startWorker();
const { client } = system;
const report: Record<string, unknown> = {};

const held = () =>
  ['api.log', 'worker-1.log'].flatMap((log) =>
    readFileSync(join(system.directory, log), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"loop_late"'))
      .map((line) => {
        const { late_ms, busy_ms } = JSON.parse(line);
        return { of: log, late_ms, busy_ms };
      }),
  );

for (const { name, plan, hold, look } of heavyWork) {
  if ((names.length > 0 && !names.includes(name)) || plan.groups.length === 0) continue;
  const before = held().length;
  const began = performance.now();
  const rules = hold === undefined ? [] : [{ match: { tool: hold }, action: 'hold' as const }];
  const { run } = await client.createRun({ plan, policy: { rules } });
  const signal = AbortSignal.timeout(120_000);
  const ended = await client.waitForRun(run.id, { signal, ...(hold && { until: (now) => now.pending_approvals > 0 }) });
  if (hold) await client.cancelRun(run.id);
  let looked = 0;
  if (look === 'diff')
    looked = (await client.diff(run.id).catch((error: Error) => ({ files: [error.message] }))).files.length;
  if (look === 'patch') looked = (await client.patch(run.id)).length;
  if (look === 'files') looked = (await client.listFiles(run.id)).length;
  const steps = (await client.listSteps(run.id)).data.map((step) => `${step.tool} ${step.error?.code ?? step.status}`);
  // Whatever holds the loop up is said by its next turn.
  const mark = (
    await client.createRun({ plan: { groups: [{ steps: [{ tool: 'todo_write', args: { todos: [] } }] }] } })
  ).run.id;
  await client.waitForRun(mark, { signal: AbortSignal.timeout(120_000) });
  report[name] = {
    status: ended.status,
    steps,
    looked,
    ms: Math.round(performance.now() - began),
    held: held().slice(before),
  };
  if (process.argv[3] === 'verbose') process.stderr.write(`${name} ${JSON.stringify(report[name])}\n`);
}
process.stdout.write(`\n${JSON.stringify(report)}\n`);
