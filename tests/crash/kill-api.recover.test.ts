import { join } from 'node:path';
import { newId, openBlobStore, openQueues } from '@holdpoint/engine';
import { connect } from '@holdpoint/engine/redis';
import { decideApproval } from '@holdpoint/engine/testing';
import { createRegistry } from '@holdpoint/tools';
import pino from 'pino';
import { expect, test } from 'vitest';
import { approve, bash, finished, nextApproval, plan, useSystem } from '../harness/index.ts';

const system = useSystem();
const { client } = system;

const held = { rules: [{ match: { tool: 'bash' as const }, action: 'hold' as const }] };

test('a stream survives kill -9 of the API and gets each event once', async () => {
  const { run } = await client.createRun({ plan: plan([bash('echo one')], [bash('echo two')]), policy: held });
  const seen: number[] = [];
  const following = (async () => {
    for await (const event of client.events(run.id, { signal: AbortSignal.timeout(60_000) })) seen.push(event.seq);
  })();

  const first = await nextApproval(client, run.id);
  await system.api.kill();
  await system.api.start();
  await approve(client, first);
  await approve(client, await nextApproval(client, run.id));
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  await following;
  expect(seen).toEqual(seen.map((_, index) => index + 1));
  const events = (await client.listEvents(run.id, { limit: 500 })).data;
  expect(seen).toHaveLength(events.length);
});

test('a decision takes effect when its writer died before the wake-up', async () => {
  const { run } = await client.createRun({ plan: plan([bash('echo decided')]), policy: held });
  const approval = await nextApproval(client, run.id);

  const logger = pino({ level: 'silent' });
  const connections = connect(system.redis.address, logger);
  const queues = openQueues(connections.state, Date.now);
  const die = async (): Promise<void> => {
    throw new Error('killed between the decision and its wake-up');
  };
  const deps = {
    redis: connections.state,
    queues: { ...queues, wakeDecided: die },
    blobs: openBlobStore(join(system.dataDir, 'blobs')),
    logger,
    newId,
    now: Date.now,
    catalog: {
      ...createRegistry([]),
      versions: () => ({}),
      rules: () => ({ rules: [], asks: [] }),
      describe: () => {
        throw new Error('an approval without edits needs no description');
      },
    },
  };
  await decideApproval(deps, approval.id, { decision: 'approve', action_digest: approval.action_digest, by: 'test' });
  await queues.close();
  await connections.close();

  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
});
