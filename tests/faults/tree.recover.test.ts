import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { type AppProcess, approve, bash, finished, nextApproval, plan, until, useSystem } from '../harness/index.ts';

const system = useSystem({ workers: 0 });

let worker: AppProcess;
async function startWorker(env?: Record<string, string>): Promise<AppProcess> {
  worker = await system.startWorker(env);
  return worker;
}
afterEach(() => worker.signal('SIGKILL'));

const files = 20;

/** A run that has created twenty files and waits for a decision before it counts their lines. */
async function park(): Promise<string> {
  const make = `for i in $(seq ${files}); do echo line $i > made$i.txt; done; echo made >> marks.txt`;
  const { run } = await system.client.createRun({
    plan: plan(
      [bash(make)],
      [{ tool: 'write_file', args: { path: 'decided.txt', content: 'yes' } }],
      [bash('cat made*.txt | wc -l > count.txt; echo counted >> marks.txt')],
    ),
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }] },
  });
  await nextApproval(system.client, run.id);
  return run.id;
}

async function decide(runId: string): Promise<void> {
  const approval = await nextApproval(system.client, runId);
  await approve(system.client, approval);
}

/** The end of the run, and why its tree was not used, if so. */
async function outcome(runId: string) {
  const { status } = await finished(system.client, runId);
  const { data } = await system.client.listEvents(runId, { limit: 500 });
  const text = async (path: string) => {
    const chunks = await Array.fromAsync(await system.client.readFile(runId, { path }));
    return Buffer.concat(chunks).toString();
  };
  return {
    status,
    distrusted: data.flatMap((event) => (event.type === 'workspace.distrusted' ? [event.data.reason] : [])),
    lines: Number(await text('count.txt')),
    marks: await text('marks.txt'),
  };
}
const complete = { status: 'succeeded', lines: files, marks: 'made\ncounted\n' };

test('a file deleted while the system was down is restored when the run continues', async () => {
  const first = await startWorker();
  const runId = await park();
  await first.signal('SIGTERM');
  await rm(join(system.tree(runId), 'made7.txt'));
  await startWorker();
  await decide(runId);
  expect(await outcome(runId)).toEqual({ ...complete, distrusted: ['tree_changed'] });
});

test('a change by another program while a run waits is in no step, with the same worker', async () => {
  await startWorker();
  const runId = await park();
  // Steps that follow each other sooner are not looked at in between.
  await delay(2500);
  await rm(join(system.tree(runId), 'made7.txt'));
  await writeFile(join(system.tree(runId), 'made99.txt'), 'from outside\n');
  await decide(runId);
  expect(await outcome(runId)).toEqual({ ...complete, distrusted: ['tree_changed'] });
  expect((await system.client.listFiles(runId, {})).map(({ path }) => path)).not.toContain('made99.txt');
});

test('files that a power failure truncated are restored when the run continues', async () => {
  const first = await startWorker({ HOLDPOINT_BOOT_ID: 'before' });
  const runId = await park();
  await first.signal('SIGKILL');
  for (const name of ['made1.txt', 'made2.txt', 'marks.txt']) await truncate(join(system.tree(runId), name));
  await startWorker({ HOLDPOINT_BOOT_ID: 'after' });
  await decide(runId);
  expect(await outcome(runId)).toEqual({ ...complete, distrusted: ['other_boot'] });
  expect((await system.client.stuck()).repairs).toMatchObject({ other_boot: 1 });
});

test('a restarted worker uses files that have not changed', async () => {
  const first = await startWorker();
  const runId = await park();
  await first.signal('SIGTERM');
  await startWorker();
  await decide(runId);
  expect(await outcome(runId)).toEqual({ ...complete, distrusted: [] });
});

test('after Redis restarts with an older log, no effect is there twice', async () => {
  const first = await startWorker();
  const runId = await park();
  const older = join(system.directory, 'older');
  await cp(join(system.dataDir, 'redis/appendonlydir'), older, { recursive: true });
  await decide(runId);
  await finished(system.client, runId);
  await first.signal('SIGKILL');
  await system.redis.kill();
  await rm(join(system.dataDir, 'redis/appendonlydir'), { recursive: true });
  await cp(older, join(system.dataDir, 'redis/appendonlydir'), { recursive: true });
  await system.redis.start();
  await startWorker();
  await decide(runId);
  expect(await outcome(runId)).toEqual({ ...complete, distrusted: ['log_went_back'] });
  const log = await readFile(join(system.directory, 'api.log'), 'utf8');
  expect(log).not.toContain('"level":60');
});

test('after Redis lost every queue, the sweep wakes a decided step', async () => {
  const first = await startWorker();
  const runId = await park();
  // A stopped worker cannot take the job of the decided step before the queues are deleted.
  await first.signal('SIGSTOP');
  await decide(runId);
  const redis = new Redis(system.redis.address);
  const queues = await redis.keys('{hp-0}:*');
  expect(queues.length).toBeGreaterThan(0);
  await redis.del(...queues);
  redis.disconnect();
  await first.signal('SIGCONT');
  expect(await outcome(runId)).toMatchObject(complete);
  // A sweep before the loss is recorded, too: the sweeps have to come back.
  const lost = Date.now();
  await until('a sweep is recorded after the loss', async () => {
    const { sweep } = await system.client.ready();
    return sweep.last_at !== null && Date.parse(sweep.last_at) > lost;
  });
  await until('no sweep is overdue', async () => !(await system.client.stuck()).sweep.overdue);
});
