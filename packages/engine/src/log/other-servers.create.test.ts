import { execFileSync } from 'node:child_process';
import { GenericContainer } from 'testcontainers';
import { describe, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { startTestEngine } from '../testing/real-redis.ts';
import { soundLog } from '../testing/sound-log.ts';
import { readRun } from './read-state.ts';

/** Other servers of users. All other tests use the embedded server. */
describe.skipIf(!engineRuns())('on other servers, in containers', () => {
  test.each(['valkey/valkey:8-alpine', 'redis:8-alpine'])(
    '%s carries a run to its end',
    async (image) => {
      const container = await new GenericContainer(image).withExposedPorts(6379).start();
      const path = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
      const engine = await startTestEngine({ server: { path, stop: () => container.stop() } });
      try {
        const { deps, tree } = inMemoryWorker(engine);
        const step = { args: { effect: 'workspace' } };
        const { runId } = await submitRun(deps, { spec: specOf([[step, step], [step]]), by: 'test' });
        await deliverAll(deps);
        expect(await readRun(deps.redis, runId)).toMatchObject({ status: 'succeeded', turn: 2 });
        expect(tree).toHaveLength(3);
        await soundLog(deps, runId);
      } finally {
        await engine.stop();
      }
    },
    120_000,
  );
});

function engineRuns(): boolean {
  try {
    execFileSync('docker', ['version'], { stdio: 'ignore', timeout: 5000 });
    return true;
  } catch {
    return false;
  }
}
