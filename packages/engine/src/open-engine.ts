import type { Caller, CallerKind, OperatorPolicy, Payload, Policy, PolicyReference } from '@holdpoint/contract';
import { readStanding } from './admission/admission.ts';
import * as approvals from './approvals/index.ts';
import * as commands from './commands/index.ts';
import type { EngineDeps } from './deps.ts';
import type { RunState, StepState } from './domain/index.ts';
import { isOverdue, lastDone, type PeriodicWork } from './handlers/periodic-work.ts';
import * as runLog from './log/index.ts';
import { ownedBy } from './owned-by.ts';
import * as policies from './policies/index.ts';
import * as queries from './queries/index.ts';
import { redisTime } from './redis/redis-lock.ts';
import { requestTaskKill } from './tasks/task-handle.ts';

/** The engine for requests. Each request names its caller. */
export function openEngine(deps: EngineDeps) {
  return { as: (caller: Caller) => engineFor(deps, caller), reconciler: openReconciler(deps) };
}
export type OpenEngine = ReturnType<typeof openEngine>;

/** A function of the engine with its first argument filled in. */
const on =
  <First, Rest extends unknown[], Result>(first: First, act: (first: First, ...rest: Rest) => Result) =>
  (...rest: Rest): Result =>
    act(first, ...rest);

/**
 * The methods that a caller may use. A method with an id as argument treats an id of another tenant as unknown. The methods with a run, a
 * view or a payload as argument take the return values of the other methods. Workers do the work.
 */
function engineFor(deps: EngineDeps, { name: by, kind, tenant }: Caller) {
  const { redis } = deps;
  const owned = ownedBy(redis, tenant);
  /** Binds a function of the engine to the runs of the tenant. */
  const ofRun =
    <First, Rest extends unknown[], Result>(
      first: First,
      act: (first: First, runId: string, ...rest: Rest) => Promise<Result>,
    ) =>
    async (runId: string, ...rest: Rest): Promise<Result> => {
      await owned.run(runId);
      return act(first, runId, ...rest);
    };
  /** Like `ofRun`, with the caller's name added to the request. */
  const byCaller = <Request extends { by: string }, Result>(
    act: (deps: EngineDeps, runId: string, request: Request) => Promise<Result>,
  ) => {
    return async (runId: string, request: Omit<Request, 'by'>): Promise<Result> => {
      await owned.run(runId);
      return act(deps, runId, { ...request, by } as Request);
    };
  };
  return {
    runs: {
      submit: (request: Omit<commands.Submission, 'by' | 'kind' | 'tenant'>) =>
        commands.submitRun(deps, { ...request, by, kind, tenant }),
      findSubmitted: (idempotency: commands.Idempotency) => commands.findSubmitted(deps, { tenant, idempotency }),
      /** @throws EngineError run_not_found */
      get: ofRun(deps, commands.getRun),
      find: async (runId: string) => ((await owned.isMine(runId)) ? runLog.readRun(redis, runId) : undefined),
      list: (filter: Omit<queries.RunFilter, 'tenant'>, page: { limit: number; cursor?: string }) =>
        queries.listRuns(deps, { ...filter, tenant }, page),
      /** The number of runs by status and reason. */
      counts: (filter: Pick<queries.RunFilter, 'label'>) => queries.countRuns(deps, { ...filter, tenant }),
      changedSince: (time: number) => queries.runsChangedSince(deps, tenant, time),
      spec: on(deps, runLog.readSpec),
      /** Why a run waits for a place; undefined when the run waits for no place. */
      placeWait: on(deps, queries.readPlaceWait),
      /** The sub-agents below a run, at any depth, that are not over. */
      agents: on(deps, queries.listAgents),
      steps: ofRun(deps, queries.listSteps),
      /** Reads only the steps of the page. @throws EngineError `step_not_found` */
      stepsPage: ofRun(deps, queries.pageSteps),
      numbered: ofRun(deps, queries.findNumberedSteps),
      async step(id: string) {
        await owned.part('step', id);
        return queries.getStep(deps, id);
      },
      /** The call of an open run that has no step yet; undefined when the call's turn has begun, or the caller has no call with this id. */
      async waitingCall(id: string) {
        const run = await runLog.readRun(deps.redis, await owned.part('step', id));
        const call = run && (await queries.findWaiting(deps, run, id));
        return run && call && { run, call };
      },
      /** @throws EngineError `step_not_found`, `step_not_begun`, `step_settled` */
      async cancelStep(id: string, request: { message?: string | undefined }) {
        await commands.requestCancelOfStep(deps, await owned.part('step', id), id, { ...request, by });
      },
      attempts: ofRun(deps, queries.listAttempts),
      /** The result of a step by its toolset's contract; undefined before the step settles. */
      result: async (run: RunState, step: StepState) =>
        queries.presentStep(deps, await runLog.readSpec(deps, run), step),
      /** The results of steps as lists show them. */
      results: async (run: RunState, steps: readonly StepState[]) =>
        queries.listResults(deps, await runLog.readEntry(run.id, () => runLog.readSpec(deps, run)), steps),
      snapshotsPage: on(deps, queries.pageSnapshots),
      /** Whether the files of a run were ever in this state. */
      hasSnapshot: on(deps, queries.hasSnapshot),
      /** The turns that a run planned, with what its planner said. */
      turnsPage: on(deps, queries.pageTurns),
      /** The instructions that the model of a run reads before the conversation; undefined before they are recorded. */
      instructions: on(deps, queries.readInstructions),
      trace: ofRun(deps, queries.readTrace),
      /** The moment after a step, with the snapshot at which `undo` and `fork` to this step begin. */
      rewindPoint: on(deps, queries.findRewindPoint),
      sendMessage: byCaller(commands.sendMessage),
      sendCalls: byCaller(commands.sendCalls),
      /** Calls that an open run received, and the steps made of them. */
      calls: ofRun(deps, queries.readCalls),
      finish: ofRun(deps, commands.finishRun),
      pause: (runId: string) => ofRun(deps, commands.requestPause)(runId, by),
      resume: byCaller(commands.requestResume),
      cancel: byCaller(commands.requestCancel),
      undo: byCaller(commands.undoSteps),
      retry: byCaller(commands.retryRun),
      fork: byCaller(commands.forkRun),
      mark: byCaller(commands.markRun),
      /** Runs its validators on its files, and publishes nothing. */
      validate: (runId: string) => ofRun(deps, commands.requestValidation)(runId, { by }),
    },
    approvals: {
      list: (filter: approvals.ApprovalFilter, page: { limit: number; cursor?: string | undefined }) =>
        approvals.listApprovals(deps, { ...filter, tenant }, page),
      /** The number of approvals by status. */
      counts: (filter: Omit<Parameters<typeof approvals.countApprovals>[1], 'tenant'>) =>
        approvals.countApprovals(deps, { ...filter, tenant }),
      async get(id: string) {
        await owned.part('approval', id);
        return approvals.viewApproval(deps, id);
      },
      find: ofRun(redis, runLog.readApproval),
      /** The approvals of one run, including decided ones, in the order of their requests. */
      ofRun: ofRun(redis, runLog.readApprovals),
      async decide(id: string, request: Omit<approvals.DecisionRequest, 'by' | 'kind'>) {
        await owned.part('approval', id);
        return approvals.decideApproval(deps, id, { ...request, by, kind });
      },
      /** What a passkey signs for this decision, which is checked and not made. */
      async toConfirm(id: string, request: Omit<approvals.DecisionRequest, 'by' | 'kind' | 'confirm'>) {
        await owned.part('approval', id);
        return approvals.decisionToConfirm(deps, id, { ...request, by, kind });
      },
      /** Lets another caller decide instead of this caller. */
      async delegate(id: string, to: { name: string; kind: CallerKind }) {
        await owned.part('approval', id);
        return approvals.delegateApproval(deps, id, { from: { name: by, kind }, to });
      },
      /** Runs the call on a throw-away fork, and shows the result in an approval that replaces this one. */
      async preview(id: string) {
        await owned.part('approval', id);
        return approvals.requestResult(deps, id, { by, kind });
      },
      /** The approval of a call with its result, where one has replaced this one. */
      async current(id: string) {
        await owned.part('approval', id);
        return approvals.currentApproval(deps, id);
      },
      /** What led to a question, and how calls like it were decided. */
      context: (view: approvals.ApprovalView) => approvals.readContext(deps, tenant, view),
      /** The full content of a long approval that shows only a beginning. */
      content: on(deps, approvals.readContent),
      /** The remembered rules in force about the call of an approval. */
      rulesAbout: on(deps, approvals.rulesAbout),
      /** Who decides on a call. */
      panel: on(deps, approvals.readPanel),
      describeEdit: on(deps, approvals.describeEdit),
    },
    rules: {
      list: (filter: { run_id?: string | undefined }, page: Parameters<typeof approvals.listRules>[2]) =>
        approvals.listRules(deps, { ...filter, tenant }, page),
      /** @throws EngineError rule_not_found */
      get: (id: string) => approvals.getRule(deps, id, tenant),
      revoke: (id: string) => approvals.revokeRule(deps, id, { tenant, by }),
    },
    publications: {
      request: byCaller(commands.requestPublication),
      discard: (runId: string) => ofRun(deps, commands.requestDiscarding)(runId, by),
    },
    tasks: {
      list: ofRun(redis, runLog.readTasks),
      find: ofRun(redis, runLog.readTask),
      /** @throws EngineError task_not_found */
      runOf: (taskId: string) => owned.part('task', taskId),
      kill: (runId: string, taskId: string) => ofRun(deps, requestTaskKill)(runId, taskId, by),
    },
    policies: {
      list: () => policies.listPolicies(deps, tenant),
      get: (name: string, version?: number) => policies.getPolicy(deps, { tenant, name, version }),
      versions: (name: string, page: { limit: number; cursor?: number | undefined }) =>
        policies.listVersions(deps, { tenant, name, ...page }),
      put: (name: string, document: Policy | OperatorPolicy, change: { ifVersion?: number | undefined }) =>
        policies.putPolicy(deps, { tenant, name, document, by, ...change }),
      delete: (name: string, change: { ifVersion?: number | undefined }) =>
        policies.deletePolicy(deps, { tenant, name, ...change }),
      explain: on(deps, policies.explainCall),
      replay: (candidate: policies.Candidate, period: { since: string; cursor?: string | undefined }) =>
        policies.replayPolicy(deps, candidate, { tenant, ...period }),
      propose: (period: { since: string; least: number }) => policies.proposeFromPast(deps, { tenant, ...period }),
      /** Rules for calls like the one of an approval. */
      pattern: (view: approvals.StepApproval, period: { since: string; least: number }) =>
        policies.findPattern(deps, view, { tenant, ...period }),
      /** The document and the version of a named policy. */
      resolve: (reference: PolicyReference) => policies.resolvePolicy(deps, tenant, reference),
    },
    events: {
      list: async (runId: string, page: Parameters<typeof runLog.readLog>[2] = {}) => {
        await owned.run(runId);
        return Promise.all(
          (await runLog.readLog(redis, runId, page)).map((event) => runLog.withResult(deps.blobs, event)),
        );
      },
      /** Like `list`, for lists: names the events that cannot be read. */
      entries: async (runId: string, page: Parameters<typeof runLog.readLogEntries>[2]) => {
        await owned.run(runId);
        const shown = ({ seq, entry }: Awaited<ReturnType<typeof runLog.readLogEntries>>[number]) =>
          entry instanceof runLog.Damaged
            ? { seq, entry }
            : runLog.withResult(deps.blobs, entry).then((event) => ({ seq, entry: event }));
        return Promise.all((await runLog.readLogEntries(redis, runId, page)).map(shown));
      },
      /** Only the events about approvals, from a place or a time on. */
      ofApprovals: ofRun(deps, queries.readApprovalEvents),
      async *all(runId: string) {
        await owned.run(runId);
        for await (const event of runLog.readWholeLog(redis, runId)) yield await runLog.withResult(deps.blobs, event);
      },
      /** Events of all runs of the tenant. */
      async page(page: Parameters<typeof queries.listEvents>[2]) {
        const { items, ...rest } = await queries.listEvents(deps, tenant, page);
        return { items: await Promise.all(items.map((event) => runLog.withResult(deps.blobs, event))), ...rest };
      },
    },
    /** The value of a payload, from the log or the blob store. */
    read: <Value>(payload: Payload<Value>): Promise<Value> => runLog.fromPayload(deps.blobs, payload),
    /** A content named by the result of a step. @throws EngineError `blob_missing`, `blob_damaged` */
    content: (sha256: string): Promise<Buffer> => deps.blobs.get(sha256),
  };
}
export type Engine = ReturnType<typeof engineFor>;

/** Concerns the runs of all tenants. */
const openReconciler = ({ redis }: EngineDeps) => ({
  /** When a periodic job last ran, and whether the job is overdue by the clock of Redis. `undefined` before the first time. */
  async lastDone(work: PeriodicWork) {
    const last = await lastDone(redis, work);
    return last && { ...last, overdue: isOverdue(last, await redisTime(redis)) };
  },
  /** How often each class of a stuck run was repaired. */
  async repairs(): Promise<Record<string, number>> {
    const counts = Object.entries(await redis.hgetall(runLog.repairsKey));
    return Object.fromEntries(counts.map(([name, count]) => [name, Number(count)]));
  },
  /** Counts over all tenants, without names. */
  totals: () => queries.readTotals(redis),
  /** The number of runs in progress, the cap, and the number of waiting runs. */
  places: () => readStanding(redis),
});
