import {
  type EventOf,
  type Grant,
  isSettled,
  isTaskOver,
  type LoggedEvent,
  type RunSpec,
  type StepStatus,
} from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { namedField, parseAllSteps, type RunState, type StepState, scopeOf, toGrant } from '../domain/index.ts';
import {
  fromPayload,
  ownerOf,
  readAll,
  readFields,
  readSpec,
  readStep,
  readTasks,
  readTurnSteps,
  readWholeLog,
} from '../log/index.ts';
import type { OpenTask, PastConversation, PastTurn, PlannerInput, RunDecision, SettledStep } from '../ports/index.ts';
import { presentStep } from '../queries/present-step.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog' | 'ceilings'>;

/** A step whose outcome is about to be recorded. */
export interface JustSettled extends Pick<StepState, 'id' | 'call' | 'args'> {
  status: StepStatus;
  outcome: NonNullable<StepState['outcome']>;
  /** When the outcome is recorded. Asked for when a planner reads the result, which may have that time in it. */
  settledAt(): string;
}

/**
 * The run as a planner may look at it. Each look reads only what it needs.
 */
export function plannerInput(deps: Deps, run: RunState, spec: RunSpec, just?: JustSettled): PlannerInput {
  return {
    runId: run.id,
    spec,
    turn: run.turn + 1,
    async named(name) {
      if (just !== undefined && just.call.name === name) return presented(deps, run.id, just.id, just);
      const field = namedField(name).name;
      const id = (await readFields(deps.redis, run.id, [field]))[field];
      // A step of the run that this one was forked from lies there.
      const owner = id && run.forked_from?.names[name] === id ? await ownerOf(deps.redis, id) : run.id;
      return id && owner ? presented(deps, owner, id) : undefined;
    },
    async previous() {
      if (just !== undefined && run.turn_steps.length === 1) return [await settledStep(deps, just)];
      const steps = await readTurnSteps(deps.redis, run);
      return Promise.all(steps.map((step) => settledStep(deps, step.id === just?.id ? just : step)));
    },
    async history() {
      const past = await history(deps, run);
      const { turns, readMessages: unread, instructed, compactions } = past;
      return { turns, unread, instructed, compacted: compactions.at(-1) };
    },
    model: run.model ?? (spec.goal.planner === 'model' ? spec.goal.model : ''),
    modelWait: run.model_wait,
    modelsLeft: run.models_left ?? {},
    openTasks: run.open_tasks,
    listOpenTasks: () => listOpenTasks(deps, run),
    unattended: run.parent !== undefined,
    scope: scopeOf(run, spec),
  };
}

async function listOpenTasks({ redis }: Deps, { id }: RunState): Promise<OpenTask[]> {
  const open = (await readTasks(redis, id)).filter(({ status }) => !isTaskOver(status));
  return open.map(({ id, about: { kind, title } }) => ({ id, kind, title }));
}

/** A step with its result. */
async function presented(
  deps: Deps,
  runId: string,
  stepId: string,
  just?: JustSettled,
): Promise<SettledStep | undefined> {
  const found = await readStep(deps.redis, runId, stepId);
  if (!found) return undefined;
  const step = just === undefined ? found.step : { ...found.step, ...just, settled_at: just.settledAt() };
  const native = await presentStep(deps, await readSpec(deps, { id: runId }), step);
  return { ...(await settledStep(deps, step)), native };
}

async function settledStep(
  deps: Deps,
  step: Pick<StepState, 'id' | 'call' | 'args' | 'status' | 'outcome'>,
): Promise<SettledStep> {
  const { outcome, call } = step;
  return {
    id: step.id,
    name: call.name,
    call_id: call.call_id,
    tool: call.tool,
    args: await fromPayload(deps.blobs, step.args),
    status: step.status,
    value: outcome?.value && (await fromPayload(deps.blobs, outcome.value)),
    error: outcome?.error,
  };
}

type Settled = EventOf<
  | 'step.succeeded'
  | 'step.failed'
  | 'step.killed'
  | 'step.timed_out'
  | 'step.rejected'
  | 'step.expired'
  | 'step.canceled'
>;

/** Turns, and the messages since the last turn. */
interface History {
  turns: PastTurn[];
  readMessages: string[];
  instructed?: PastConversation['instructed'];
  /** Those that no undo took back, oldest first. */
  compactions: NonNullable<PastConversation['compacted']>[];
}

/** The turns so far, in the log: a fork's past is the other run's, up to where it left it. */
async function history(deps: Deps, run: Past): Promise<History> {
  const turns: PastTurn[] = [];
  const steps = new Map<string, SettledStep>();
  const isIndeterminate = new Set<string>();
  const messages: string[] = [];
  let read = 0;
  // Messages of an undone turn stay.
  let carried: string[] = [];
  let instructed: PastConversation['instructed'];
  let compactions: NonNullable<PastConversation['compacted']>[] = [];
  for await (const event of readWholeLog(deps.redis, run.id)) {
    if (run.until !== undefined && event.seq > run.until) break;
    if (event.type === 'run.created' && event.data.forked_from !== undefined) {
      const { run_id, seq, turn } = event.data.forked_from;
      const past = await history(deps, { id: run_id, until: seq });
      turns.push(...past.turns.filter((one) => one.turn <= turn));
      compactions.push(...past.compactions.filter((one) => one.through_turn < turn));
    } else if (event.type === 'message.received') {
      messages.push(event.data.text);
    } else if (event.type === 'run.rewound') {
      carried.push(...rewind(turns, event.data));
      const { turn } = event.data;
      compactions = compactions.filter((one) => one.through_turn < turn);
    } else if (event.type === 'context.instructed') {
      instructed = { ...event.data, system: String(await fromPayload(deps.blobs, event.data.system)) };
    } else if (event.type === 'context.compacted') {
      const { summary, ...data } = event.data;
      compactions.push({ ...data, summary: summary && String(await fromPayload(deps.blobs, summary)) });
    } else if (event.type === 'turn.planned') {
      const { turn, message, answer, messages_read = read } = event.data;
      turns.push({
        turn,
        message,
        answer: answer && (await fromPayload(deps.blobs, answer)),
        refused: event.data.refused?.error,
        note: event.data.note,
        steps: [],
        readMessages: [...carried, ...messages.slice(read, messages_read)],
        at: event.time,
      });
      carried = [];
      read = messages_read;
    } else if (event.type === 'step.created') {
      const { name, call_id, tool } = event.data;
      const step: SettledStep = {
        id: event.step_id,
        name,
        call_id,
        tool,
        args: await fromPayload(deps.blobs, event.data.args),
        status: 'pending',
      };
      steps.set(step.id, step);
      turns.at(-1)?.steps.push(step);
    } else if (event.type === 'approval.requested') {
      if (event.data.kind === 'indeterminate') isIndeterminate.add(event.data.approval_id);
    } else if (event.type === 'approval.decided') {
      const grant = toGrant(event.data, isIndeterminate.has(event.data.approval_id));
      await addDecisions(deps, event.step_id === undefined ? undefined : steps.get(event.step_id), grant && [grant]);
    } else if (isSettledEvent(event)) {
      const step = steps.get(event.step_id);
      if (!step) continue;
      step.status = event.type.slice('step.'.length) as StepStatus;
      if (event.data.error !== undefined) step.error = event.data.error;
      await addDecisions(deps, step, event.data.grants);
    }
  }
  await addResults(deps, run.id, steps);
  return { turns, readMessages: [...carried, ...messages.slice(read)], instructed, compactions };
}

/** The state has what a result is made of. The status then is that of the log: an undo after a fork is no part of the fork's past. */
async function addResults(deps: Deps, runId: string, steps: ReadonlyMap<string, SettledStep>): Promise<void> {
  const spec = await readSpec(deps, { id: runId });
  for (const state of parseAllSteps(await readAll(deps.redis, runId))) {
    const step = steps.get(state.id);
    if (step === undefined || !isSettled(step.status)) continue;
    step.native = await presentStep(deps, spec, { ...state, status: step.status });
  }
}

async function addDecisions(deps: Deps, step: SettledStep | undefined, grants: readonly Grant[] = []): Promise<void> {
  if (step === undefined) return;
  for (const { decision, args, message, indeterminate } of grants) {
    const known: RunDecision = {
      decision,
      ...(args === undefined ? {} : { args: await fromPayload(deps.blobs, args) }),
      message,
      isIndeterminate: indeterminate === true,
    };
    step.decided = [...(step.decided ?? []), known];
  }
}

interface Past {
  id: string;
  /** Sequence number of the last event that counts; when absent, all events count. */
  until?: number;
}

/**
 * Undone turns are no part of the conversation; steps that run again follow as events of their own.
 * @returns the messages of the removed turns
 */
function rewind(turns: PastTurn[], { to_step, turn, steps }: EventOf<'run.rewound'>['data']): string[] {
  const gone = turns.filter((one) => one.turn > turn);
  turns.splice(0, turns.length, ...turns.filter((one) => one.turn <= turn));
  const last = turns.at(-1);
  if (to_step !== null && last?.turn === turn) last.steps = last.steps.filter((step) => steps.includes(step.id));
  return gone.flatMap(({ readMessages }) => readMessages);
}

const isSettledEvent = (event: LoggedEvent): event is Settled & { seq: number } => settledTypes.has(event.type);

const settledTypes: ReadonlySet<string> = new Set<Settled['type']>([
  'step.succeeded',
  'step.failed',
  'step.killed',
  'step.timed_out',
  'step.rejected',
  'step.expired',
  'step.canceled',
]);
