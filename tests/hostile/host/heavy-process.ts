/**
 * Program: a whole Holdpoint does heavy work. Prints the result of each piece and the delays of the event loops of worker and API as JSON.
 * Arguments: names of the pieces as JSON (an empty list means all).
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { allowBash } from '../../harness/runs.ts';
import { startSystem } from '../../harness/system.ts';
import { allOf } from './form.ts';
import { heavyAnswers, heavyWork } from './heavy-work.ts';

const names: string[] = JSON.parse(process.argv[2] ?? '[]');
/** A provider: the first answer to a prompt is the heavy answer of the prompt's name. */
const provider = createServer(async (request, response) => {
  const asked = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const heavy = allOf(heavyAnswers).find(({ name }) =>
    asked.messages.some((one: { content: unknown }) => one.content === name),
  );
  const call = heavy && { name: heavy.tool, arguments: heavy.args() };
  const isFirst = !asked.messages.some((one: { role: string }) => one.role === 'tool');
  const tool_calls = isFirst && call ? [{ id: 'call_1', type: 'function', function: call }] : undefined;
  const message = { role: 'assistant', content: 'Done.', ...(tool_calls && { tool_calls }) };
  const choices = [{ index: 0, message, finish_reason: tool_calls ? 'tool_calls' : 'stop' }];
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'heavy', choices }));
}).listen(0, '127.0.0.1');
await once(provider, 'listening');
const model = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
await using system = await startSystem(
  { HOLDPOINT_MODEL: 'openai-compatible/heavy', OPENAI_COMPATIBLE_BASE_URL: model, OPENAI_COMPATIBLE_API_KEY: 'x' },
  {},
);
await system.startWorker();
const { client } = system;
const report: Record<string, unknown> = {};

const delays = () =>
  ['api.log', 'worker-1.log'].flatMap((log) =>
    readFileSync(join(system.directory, log), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"loop_late"'))
      .map((line) => {
        const { late_ms, busy_ms } = JSON.parse(line);
        return { of: log, late_ms, busy_ms };
      }),
  );

for (const { name, plan, hold, look } of allOf(heavyWork)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const before = delays().length;
  const began = performance.now();
  const held = hold === undefined ? [] : [{ match: { tool: hold }, action: 'hold' as const }];
  const { run } = await client.createRun({ plan, policy: { rules: [...held, allowBash] } });
  const ended = await client.waitForRun(run.id, {
    signal: AbortSignal.timeout(300_000),
    until: (now) => now.pending_approvals > 0 || now.ended_at !== null,
  });
  if (hold === undefined && ended.pending_approvals > 0) throw new Error(`${name}: a step waits for a person`);
  if (hold) await client.cancelRun(run.id);
  let looked = 0;
  if (look === 'diff')
    looked = (await client.diff(run.id).catch((error: Error) => ({ files: [error.message] }))).files.length;
  if (look === 'patch') looked = (await client.patch(run.id)).length;
  if (look === 'files') looked = (await client.listFiles(run.id)).length;
  const steps = (await client.listSteps(run.id)).data.map((step) => `${step.tool} ${step.error?.code ?? step.status}`);
  // The next turn of the loop reports its delay.
  const mark = (
    await client.createRun({ plan: { groups: [{ steps: [{ tool: 'todo_write', args: { todos: [] } }] }] } })
  ).run.id;
  await client.waitForRun(mark, { signal: AbortSignal.timeout(300_000) });
  report[name] = {
    status: ended.status,
    steps,
    looked,
    ms: Math.round(performance.now() - began),
    delays: delays().slice(before),
  };
  if (process.argv[3] === 'verbose') process.stderr.write(`${name} ${JSON.stringify(report[name])}\n`);
}
for (const { name } of allOf(heavyAnswers)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const before = delays().length;
  const { run } = await client.createRun({ prompt: name });
  const signal = AbortSignal.timeout(300_000);
  const ended = await client.waitForRun(run.id, {
    signal,
    until: (now) => now.status === 'paused' || now.ended_at !== null,
  });
  const steps = (await client.listSteps(run.id)).data.map(
    (step) => `${step.tool.slice(0, 20)} ${step.error?.code ?? step.status}`,
  );
  report[name] = { status: ended.status, reason: ended.reason?.code, steps, delays: delays().slice(before) };
  if (process.argv[3] === 'verbose') process.stderr.write(`${name} ${JSON.stringify(report[name])}\n`);
}
provider.close();
process.stdout.write(`\n${JSON.stringify(report)}\n`);
