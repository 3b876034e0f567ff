import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bash, finished, nextApproval, plan, until, useSystem } from '../harness/index.ts';

const system = useSystem();
let admin: Redis;
beforeAll(() => {
  admin = new Redis(system.redis.address);
});
afterAll(() => admin.disconnect());

interface Line {
  msg?: string;
  suppressed?: number;
}

function workerLog(): { text: string; lines: Line[] } {
  const file = readdirSync(system.directory).find((name) => name.startsWith('worker-')) ?? '';
  const text = readFileSync(join(system.directory, file), 'utf8');
  return { text, lines: text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : [])) };
}

const counted = (lines: Line[], msg: string): number =>
  lines.filter((line) => line.msg === msg).reduce((sum, { suppressed = 1 }) => sum + suppressed, 0);

test('while Redis refuses writes the API says why, and later all runs continue', async () => {
  const { client } = system;
  const held = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
  const { run: parked } = await client.createRun({ plan: plan([bash('true')]), policy: held });
  const approval = await nextApproval(client, parked.id);
  const decision = { decision: 'approve', action_digest: approval.action_digest } as const;
  const { run } = await client.createRun({
    plan: plan([bash('sleep 1; echo once >> counter')], [bash('cat counter')]),
  });
  await until('it runs', async () => (await client.getRun(run.id)).status === 'running');
  await admin.replicaof('127.0.0.1', 1);
  try {
    const refusal = { code: 'redis_read_only', status: 503, next: expect.stringContaining('master') };
    await expect(client.ready()).rejects.toMatchObject(refusal);
    await expect(client.createRun({ plan: plan([bash('true')]) })).rejects.toMatchObject(refusal);
    await expect(client.decideApproval(approval.id, decision)).rejects.toMatchObject(refusal);
    expect((await client.listRuns()).data).toHaveLength(2);
    const said = 'no jobs are taken: Redis refuses writes';
    await until('the worker has checked three times', () => counted(workerLog().lines, said) >= 3);
    const { text, lines } = workerLog();
    // Without a pause there are thousands per second.
    expect(counted(lines, 'queue worker error')).toBeLessThan(100);
    // The log contains neither scripts nor their arguments.
    expect(text).not.toContain('{hp-0}:');
    expect(text).not.toContain('rcall');
  } finally {
    await admin.replicaof('NO', 'ONE');
  }
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const [, second] = (await client.listSteps(run.id)).data;
  expect(JSON.stringify(second?.result)).toContain('"once\\n"');
  await client.decideApproval(approval.id, decision);
  expect(await finished(client, parked.id)).toMatchObject({ status: 'succeeded' });
});
