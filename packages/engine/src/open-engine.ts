import type { Payload } from '@holdpoint/contract';
import { decideApproval, describeEdit, listPendingApprovals, viewApproval } from './approvals/index.ts';
import {
  findSubmitted,
  forkRun,
  getRun,
  requestCancel,
  requestDiscarding,
  requestPause,
  requestPublication,
  requestResume,
  requestTaskKill,
  retryRun,
  sendMessage,
  submitRun,
  undoSteps,
} from './commands/index.ts';
import type { EngineDeps } from './deps.ts';
import type { RunState } from './domain/index.ts';
import { isOverdue, lastDone, type PeriodicWork, timeOf } from './handlers/periodic-work.ts';
import {
  activeIndex,
  fromPayload,
  ownerOf,
  readApproval,
  readLog,
  readRun,
  readSpec,
  readTask,
  readTasks,
  readWholeLog,
  repairsKey,
} from './log/index.ts';
import {
  findRewindPoint,
  getStep,
  listAgents,
  listAttempts,
  listRuns,
  listSnapshots,
  listSteps,
} from './queries/index.ts';

/** What callers may ask of the engine. Every method reads or appends to the log of one run; workers do the work. */
export function openEngine(deps: EngineDeps) {
  /** A function of the engine with its first argument filled in. */
  const on =
    <First, Rest extends unknown[], Result>(first: First, act: (first: First, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      act(first, ...rest);
  const { redis } = deps;
  return {
    runs: {
      submit: on(deps, submitRun),
      findSubmitted: on(deps, findSubmitted),
      /** @throws EngineError run_not_found */
      get: on(deps, getRun),
      find: on(redis, readRun),
      list: on(deps, listRuns),
      spec: on(deps, readSpec),
      /** The sub-agents of a run that are not over, and theirs. */
      agents: on(deps, listAgents),
      steps: on(deps, listSteps),
      step: on(deps, getStep),
      attempts: on(deps, listAttempts),
      snapshots: on(deps, listSnapshots),
      /** The moment after a step, with the snapshot that `undo` and `fork` to that step begin with. */
      rewindPoint: on(deps, findRewindPoint),
      sendMessage: on(deps, sendMessage),
      pause: on(deps, requestPause),
      resume: on(deps, requestResume),
      cancel: on(deps, requestCancel),
      undo: on(deps, undoSteps),
      retry: on(deps, retryRun),
      fork: on(deps, forkRun),
    },
    approvals: {
      list: on(deps, listPendingApprovals),
      get: on(deps, viewApproval),
      find: on(redis, readApproval),
      decide: on(deps, decideApproval),
      describeEdit: on(deps, describeEdit),
    },
    publications: { request: on(deps, requestPublication), discard: on(deps, requestDiscarding) },
    tasks: {
      list: on(redis, readTasks),
      find: on(redis, readTask),
      runOf: on(redis, ownerOf),
      kill: on(deps, requestTaskKill),
    },
    events: { list: on(redis, readLog), all: on(redis, readWholeLog) },
    reconciler: {
      /** When a periodic job last ran, and whether it is overdue by the clock of Redis. `undefined` before its first time. */
      async lastDone(work: PeriodicWork) {
        const last = await lastDone(redis, work);
        return last && { ...last, overdue: isOverdue(last, await timeOf(redis)) };
      },
      /** How often each class of a stuck run was repaired. */
      async repairs(): Promise<Record<string, number>> {
        const counts = Object.entries(await redis.hgetall(repairsKey));
        return Object.fromEntries(counts.map(([name, count]) => [name, Number(count)]));
      },
      /** Every run that has not ended. */
      async *activeRuns(): AsyncGenerator<RunState> {
        for (const id of await redis.zrange(activeIndex, '0', '-1')) {
          const run = await readRun(redis, id);
          if (run) yield run;
        }
      },
    },
    /** The value of a payload, from the log or the blob store. */
    read: <Value>(payload: Payload<Value>): Promise<Value> => fromPayload(deps.blobs, payload),
  };
}

export type Engine = ReturnType<typeof openEngine>;
