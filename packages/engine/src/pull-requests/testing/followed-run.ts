import type { PullRequest, RunSpec } from '@holdpoint/contract';
import { submitRun } from '../../commands/index.ts';
import type { WorkerDeps } from '../../deps.ts';
import { readLog } from '../../log/index.ts';
import type { PlannerDecision, PullRequestCall, PullRequestPort } from '../../ports/index.ts';
import { listSteps } from '../../queries/list-steps.ts';
import { deliverAll } from '../../testing/deliver-all.ts';
import { inMemoryWorker } from '../../testing/in-memory-worker.ts';
import type { TestEngine } from '../../testing/real-redis.ts';
import { specOf } from '../../testing/run-spec.ts';
import { followPull } from '../follow.ts';
import { openPullLooks } from '../look.ts';
import { openPullStore } from '../store.ts';
import { codeHost, pullRequest, target } from './code-host.ts';

const call = { name: 'a', tool: 'count', args: { effect: 'workspace' } };
const goal: RunSpec['goal'] = { planner: 'model', model: 'test/model', prompt: 'Do it.' };
const never = new AbortController().signal;

interface FollowedOptions {
  rounds?: number;
  goal?: RunSpec['goal'];
  /** A pull request at a real code host. @default one in memory */
  real?: Pick<PullRequestCall, 'target' | 'branch' | 'commit'> & { port: PullRequestPort; pull: PullRequest };
}

/** A run of a model that has ended, and the pull request of its first publish. */
export async function followedRun(engine: TestEngine, more: FollowedOptions = {}) {
  const worker = inMemoryWorker(engine);
  const host = codeHost();
  let late = 0;
  const now = () => worker.deps.now() + late;
  const deps: WorkerDeps = { ...worker.deps, planners: { ...worker.deps.planners, model: { next: changeOnce } } };
  const { runId } = await submitRun(deps, { spec: { ...specOf([[call]]), goal: more.goal ?? goal }, by: 'test' });
  await deliverAll(deps);
  const store = openPullStore(deps.redis);
  const { target: given, branch } = more.real ?? { target, branch: 'refs/heads/b' };
  const at = { target: given, branch };
  const publish = (commit: string, rounds = more.rounds, by: WorkerDeps = deps) =>
    followPull(
      { ...by, now },
      { runId, ...at, target: { ...at.target, ...(rounds !== undefined && { rounds }) }, commit },
      more.real?.pull ?? pullRequest,
    );
  await publish(more.real?.commit ?? 'c'.repeat(40));
  const looksOf = (by: WorkerDeps) =>
    openPullLooks({
      ...{
        engine: { ...by, now },
        port: more.real?.port ?? host.port,
        store: openPullStore(by.redis),
        wake: async () => {},
        // Requests to a real code host take longer than a process is missed in the other tests.
        lostMs: more.real === undefined ? 20 : 30_000,
      },
    });
  const living = { first: looksOf(deps), second: looksOf(deps) };
  return {
    ...{ deps, host, runId, store, publish },
    /** Time passes. */
    wait(ms: number): void {
      late += ms;
    },
    /** A look, whatever the time. @param process one that lives, or the deps of one that dies */
    async look(process: 'first' | 'second' | WorkerDeps = 'first'): Promise<void> {
      late += 24 * 3600_000;
      const looks = typeof process === 'string' ? living[process] : looksOf(process);
      await looks(runId, never);
    },
    state: async () => (await store.find(runId))?.state,
    run: async () => (await listSteps(deps, runId)).run,
    async messages(): Promise<{ text: string; by: string }[]> {
      const events = await readLog(deps.redis, runId, { limit: 500 });
      return events.flatMap((event) => (event.type === 'message.received' ? [event.data] : []));
    },
  };
}

async function changeOnce({
  history,
}: Parameters<WorkerDeps['planners']['model']['next']>[0]): Promise<PlannerDecision> {
  const { turns, unread } = await history();
  const last = turns.at(-1);
  const isDone = last !== undefined && last.steps.length > 0 && unread.length === 0;
  return isDone ? { kind: 'finish', message: `done ${turns.length}` } : { kind: 'calls', message: '', calls: [call] };
}
