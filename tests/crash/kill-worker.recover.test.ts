import { existsSync } from 'node:fs';
import { chown, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type AppProcess,
  bash,
  finished,
  nextApproval,
  plan,
  processesWith,
  until,
  useSystem,
} from '../harness/index.ts';

const system = useSystem({ workers: 0 });
const { client } = system;

/** Counts in the workspace, reports that it runs, and waits for the file `go`. */
const countAndHold = (marker: string) =>
  bash(`echo once >> counter; touch started-${marker}; until [ -e go ]; do sleep 0.02; done`, 'hold');

/** Creates a file in the staging tree from outside, as the owner of the tree. */
async function put(runId: string, name: string): Promise<void> {
  const tree = system.tree(runId);
  const { uid, gid } = await stat(tree);
  await writeFile(join(tree, name), '');
  await chown(join(tree, name), uid, gid);
}

/** Starts another worker and waits for attempt 2. Its tree is new, so `started-…` appears in it only when attempt 2 runs. */
async function takeOver(runId: string, marker: string): Promise<AppProcess> {
  const before = system.tree(runId);
  const worker = await system.startWorker();
  await until('attempt 2 runs', async () => {
    const steps = (await client.listSteps(runId)).data;
    const tree = system.tree(runId);
    return tree !== before && steps.some((step) => step.attempts === 2) && existsSync(join(tree, `started-${marker}`));
  });
  return worker;
}

test('a step whose worker is killed leaves no process and one effect', async () => {
  const first = await system.startWorker();
  const { run } = await client.createRun({
    plan: plan([bash('echo before > base')], [countAndHold('a')], [bash('cat counter')]),
  });
  await until('the step runs', () => existsSync(join(system.tree(run.id), 'started-a')));

  await first.signal('SIGKILL');
  await until('its sandbox is gone', async () => (await processesWith(system.folder(run.id))).length === 0);

  const second = await takeOver(run.id, 'a');
  await put(run.id, 'go');
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(await readFile(join(system.tree(run.id), 'counter'), 'utf8')).toBe('once\n');

  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map((step) => step.attempts)).toEqual([1, 2, 1]);
  const attempts = await client.listAttempts(steps[1]?.id ?? '');
  expect(attempts.map((attempt) => attempt.end)).toEqual(['retried', 'succeeded']);
  await second.signal('SIGKILL');
});

test('a worker that gets SIGTERM returns its step to the next worker at once', async () => {
  const first = await system.startWorker();
  const { run } = await client.createRun({ plan: plan([countAndHold('b')]) });
  await until('the step runs', () => existsSync(join(system.tree(run.id), 'started-b')));
  await first.signal('SIGTERM');
  expect(await processesWith(system.folder(run.id))).toEqual([]);

  const second = await takeOver(run.id, 'b');
  await put(run.id, 'go');
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(await readFile(join(system.tree(run.id), 'counter'), 'utf8')).toBe('once\n');
  await second.signal('SIGTERM');
});

test('a worker stopped past its lock and resumed changes nothing', async () => {
  const stopped = await system.startWorker();
  const { run } = await client.createRun({ plan: plan([countAndHold('c')]) });
  await until('the step runs', () => existsSync(join(system.tree(run.id), 'started-c')));
  await stopped.signal('SIGSTOP');

  const second = await takeOver(run.id, 'c');
  await stopped.signal('SIGCONT');
  await put(run.id, 'go');
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(await readFile(join(system.tree(run.id), 'counter'), 'utf8')).toBe('once\n');
  const events = (await client.listEvents(run.id, { limit: 500 })).data;
  expect(events.filter((event) => event.type === 'step.succeeded')).toHaveLength(1);
  await stopped.signal('SIGKILL');
  await second.signal('SIGTERM');
});

test('a cancel kills the whole process tree of a running command', async () => {
  const worker = await system.startWorker();
  const { run } = await client.createRun({
    plan: plan([bash('trap "" TERM; setsid sleep 1000 & touch started-d; wait')], [bash('touch never')]),
  });
  await until('the step runs', () => existsSync(join(system.tree(run.id), 'started-d')));
  await client.cancelRun(run.id);
  expect(await finished(client, run.id)).toMatchObject({ status: 'canceled' });
  expect(await processesWith(system.folder(run.id))).toEqual([]);
  const [step] = (await client.listSteps(run.id)).data;
  expect(step?.status).toBe('killed');
  await worker.signal('SIGTERM');
});

test('a parked step survives all kills, and exactly one of 8 racing decisions wins', async () => {
  const worker = await system.startWorker();
  const { run } = await client.createRun({
    plan: plan([bash('echo once >> counter')]),
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  const before = await nextApproval(client, run.id);

  await worker.signal('SIGKILL');
  await system.api.kill();
  await system.redis.kill();
  await system.redis.start();
  await system.api.start();
  const after = await nextApproval(client, run.id);
  expect(after).toEqual(before);
  expect(existsSync(join(system.tree(run.id), 'counter'))).toBe(false);

  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) =>
      client.decideApproval(after.id, { decision: 'approve', action_digest: after.action_digest, message: `${index}` }),
    ),
  );
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 409, code: 'already_decided' });
  }
  const second = await system.startWorker();
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(await readFile(join(system.tree(run.id), 'counter'), 'utf8')).toBe('once\n');
  await second.signal('SIGTERM');
});
