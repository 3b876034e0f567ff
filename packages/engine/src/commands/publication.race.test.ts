import { expect, test } from 'vitest';
import type { WorkerDeps } from '../deps.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { tapCommands } from '../testing/tap-commands.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { requestDiscarding, requestPublication, submitRun } from './index.ts';

const engine = useTestEngine({ fresh: true });
type Act = (deps: WorkerDeps, runId: string) => Promise<unknown>;

const discard: Act = (deps, runId) => requestDiscarding(deps, runId, 'ann');
const publish =
  (branch?: string): Act =>
  (deps, runId) =>
    requestPublication(deps, runId, { by: 'ann', branch });
const decide =
  (decision: 'approve' | 'reject'): Act =>
  async (deps) => {
    for (const view of await pendingApprovals(deps)) await decideOn(deps, view, { decision });
  };

const holds = { policy: { publish: 'hold' } } as const;
const settledBy =
  (...acts: Act[]): Act =>
  async (deps, runId) => {
    for (const act of acts) await act(deps, runId);
  };
const done: Act = (deps) => deliverAll(deps);

/** What another caller does between the read and the append of a request, and what the request is answered. */
const races: Record<string, { spec?: typeof holds; before?: Act; other: Act; act: Act; code?: string; ends: string }> =
  {
    'a discard and the approval of a publish': {
      ...{ spec: holds, before: settledBy(publish(), done), other: decide('approve') },
      ...{ act: discard, code: 'publication_pending', ends: 'requested' },
    },
    'a discard and the rejection of a publish': {
      ...{ spec: holds, before: settledBy(publish(), done), other: decide('reject') },
      ...{ act: discard, ends: 'discarding' },
    },
    'a discard and a publish that is done': {
      ...{ spec: holds, before: settledBy(publish(), done), other: settledBy(decide('approve'), done) },
      ...{ act: discard, ends: 'discarding' },
    },
    'a discard and a request to publish': {
      ...{ other: publish(), act: discard },
      ...{ code: 'publication_pending', ends: 'requested' },
    },
    'two discards': { other: discard, act: discard, ends: 'discarding' },
    'a publish and a discard': { other: discard, act: publish(), code: 'publication_closed', ends: 'discarding' },
    'two publishes of the same': { other: publish('b'), act: publish('b'), ends: 'requested' },
    'two publishes to different branches': {
      ...{ other: publish('a'), act: publish('b') },
      ...{ code: 'publication_pending', ends: 'requested' },
    },
  };

test.each(Object.entries(races))('%s: the later one is answered by what the run is then', async (_, race) => {
  const { deps } = inMemoryWorker(engine);
  const spec = specOf([[{ args: { effect: 'workspace' } }]], race.spec);
  const { runId } = await submitRun(deps, { spec, by: 'ann' });
  await deliverAll(deps);
  await race.before?.(deps, runId);
  // The request has read the run with its first command.
  const late = tapCommands(deps, async (command, send) => {
    if (command === 2) await race.other(deps, runId);
    return send();
  });
  const answer = await race.act(late, runId).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
  expect(answer).toBe(race.code);
  expect((await listSteps(deps, runId)).run.publication).toBe(race.ends);
  await soundLog(deps, runId);
});
