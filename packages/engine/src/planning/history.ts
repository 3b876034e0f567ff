import { isTaskOver, type RunSpec, type StepStatus } from '@holdpoint/contract';
import { describeCall } from '../approvals/describe-call.ts';
import { judgeDescribed } from '../approvals/judge-described.ts';
import type { EngineDeps } from '../deps.ts';
import { budgetsOf, countUnanswered, namedField, type RunState, type StepState, scopeOf } from '../domain/index.ts';
import * as runLog from '../log/index.ts';
import type { OpenTask, PlannerInput, SettledStep } from '../ports/index.ts';
import { presentStep } from '../queries/list-results.ts';
import { readConversation } from './read-conversation.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog' | 'ceilings' | 'now' | 'operatorPolicy'>;

/** A step whose outcome is about to be recorded. */
export interface JustSettled extends Pick<StepState, 'id' | 'call' | 'args'> {
  status: StepStatus;
  outcome: NonNullable<StepState['outcome']>;
  /** When the outcome is recorded. Called when a planner reads the result, because the result may contain the time. */
  settledAt(): string;
  /** The start of the step is about to be recorded at the same time. */
  isStarting: boolean;
}

/** The planner's view of a run. Each property reads only the data that it needs. */
export function plannerInput(deps: Deps, run: RunState, spec: RunSpec, just?: JustSettled): PlannerInput {
  /** The steps of the previous turn, with the settling step in its future state. */
  const lastSteps = async (): Promise<Settled[]> => {
    if (just !== undefined && run.turn_steps.length === 1) return [just];
    const steps = await runLog.readTurnSteps(deps.redis, run);
    return steps.map((step) => (step.id === just?.id ? just : step));
  };
  return {
    runId: run.id,
    spec,
    turn: run.turn + 1,
    async named(name) {
      if (just !== undefined && just.call.name === name) return presented(deps, run.id, just.id, just);
      const field = namedField(name).name;
      const id = (await runLog.readFields(deps.redis, run.id, [field]))[field];
      // A step that the fork inherited lies in the original run.
      const owner = id && run.forked_from?.names[name] === id ? await runLog.ownerOf(deps.redis, id) : run.id;
      return id && owner ? presented(deps, owner, id) : undefined;
    },
    previous: async () => Promise.all((await lastSteps()).map((step) => settledStep(deps, step))),
    endings: async () =>
      (await lastSteps()).map(({ call: { name, tool }, status, outcome }) => {
        return { name, tool, status, error: outcome?.error };
      }),
    history: () => readConversation(deps, run.id),
    readContent: (sha256) => deps.blobs.get(sha256),
    async recordUsed(used) {
      await runLog.append(deps, run.id, countUnanswered(used));
    },
    base: run.base,
    snapshot: run.snapshot,
    budgets: budgetsOf(run, spec, deps.now()),
    model: run.model ?? (spec.goal.planner === 'model' ? spec.goal.model : ''),
    modelWait: run.model_wait,
    modelsLeft: run.models_left ?? {},
    openTasks: run.open_tasks,
    listOpenTasks: () => listOpenTasks(deps, run),
    wouldHold({ tool, args }) {
      const described = describeCall(deps, spec, { run, tool, args });
      return described.ok && judgeDescribed(deps, spec, { tool, args, described }).verdict.action === 'hold';
    },
    unattended: run.parent !== undefined,
    scope: scopeOf(run, spec),
  };
}

async function listOpenTasks({ redis }: Deps, { id }: RunState): Promise<OpenTask[]> {
  const open = (await runLog.readTasks(redis, id)).filter(({ status }) => !isTaskOver(status));
  return open.map(({ id, about: { kind, title } }) => ({ id, kind, title }));
}

/** A step with its result. */
async function presented(
  deps: Deps,
  runId: string,
  stepId: string,
  just?: JustSettled,
): Promise<SettledStep | undefined> {
  const found = await runLog.readStep(deps.redis, runId, stepId);
  if (!found) return undefined;
  const step = just === undefined ? found.step : asRecorded(found.step, just);
  const native = await presentStep(deps, await runLog.readSpec(deps, { id: runId }), step);
  return { ...(await settledStep(deps, step)), native };
}

/** The step after the pending append. */
function asRecorded(step: StepState, { settledAt, isStarting, ...just }: JustSettled): StepState {
  const settled_at = settledAt();
  const started = isStarting && { started_at: settled_at, began_at: step.began_at ?? step.started_at };
  return { ...step, ...just, settled_at, ...started };
}

type Settled = Pick<StepState, 'id' | 'call' | 'args' | 'status' | 'outcome'>;

async function settledStep(deps: Deps, step: Settled): Promise<SettledStep> {
  const { outcome, call } = step;
  return {
    id: step.id,
    name: call.name,
    call_id: call.call_id,
    tool: call.tool,
    args: await runLog.fromPayload(deps.blobs, step.args),
    status: step.status,
    value: outcome?.value && (await runLog.fromPayload(deps.blobs, outcome.value)),
    error: outcome?.error,
  };
}
