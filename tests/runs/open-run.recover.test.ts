import type { ReceivedCalls } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { type AppProcess, until, useSystem } from '../harness/index.ts';

const system = useSystem({ workers: 0 });
const { client } = system;

/** Every gap in every order in `npm run test:crash`. */
const isFull = process.env.HOLDPOINT_CRASH === 'full';
/** Each call depends on what the calls before it left. */
const calls = ['one', 'two', 'three', ...(isFull ? ['four'] : [])].map((word) => ({
  tool: 'bash',
  args: { command: `echo ${word} >> words; cat words; wc -l < words` },
}));
const gaps = [['worker'], ['api'], ['worker', 'api']] as const;
const orders = isFull ? [0, 1, 2] : [2];

const valuesOf = (received: ReceivedCalls[]) =>
  received.flatMap(({ steps }) => steps.map(({ result }) => stdoutOf(result)));
const stdoutOf = (result: unknown): unknown => (result as { stdout?: string } | null)?.stdout;

test.each(orders)(
  'kill -9 of worker and API between any two calls of an open run changes no result (order %i)',
  async (order) => {
    let worker: AppProcess = await system.startWorker();
    const source = await system.directoryWith({ words: 'zero\n' });
    const { run } = await client.createRun({ open: true, workspace: { source: { type: 'directory', path: source } } });
    const received: ReceivedCalls[] = [];
    for (const [index, call] of calls.entries()) {
      const key = { idempotencyKey: `${run.id} ${index}` };
      // Acknowledged, and perhaps not begun.
      const first = await client.sendCalls(run.id, { calls: [call] }, key);
      const killed = gaps[(index + order) % gaps.length] ?? [];
      for (const one of killed) await (one === 'worker' ? worker.signal('SIGKILL') : system.api.kill());
      if (killed.some((one) => one === 'api')) await system.api.start();
      if (killed.some((one) => one === 'worker')) worker = await system.startWorker();
      await until('the call is settled', async () => (await client.getCalls(run.id, index + 1, { waitS: 5 })).settled);
      // Between two calls, when nothing runs.
      if (index % 2 === order % 2 && (isFull || index === 0)) {
        await worker.signal('SIGKILL');
        await system.api.kill();
        await system.api.start();
        worker = await system.startWorker();
      }
      const again = await client.sendCalls(run.id, { calls: [call] }, { ...key, waitS: 5 });
      expect(again.steps[0]?.id).toBe(first.steps[0]?.id);
      received.push(again);
    }
    const lines = ['zero', 'one', 'two', 'three', 'four'];
    expect(valuesOf(received)).toEqual(
      calls.map((_, index) => `${lines.slice(0, index + 2).join('\n')}\n${index + 2}\n`),
    );
    expect((await client.finishRun(run.id)).status).toBe('succeeded');
    const { data: steps } = await client.listSteps(run.id);
    expect(steps.map(({ status }) => status)).toEqual(calls.map(() => 'succeeded'));
    await worker.signal('SIGKILL');
  },
);
