import {
  callsKeyField,
  forkField,
  messageField,
  namedField,
  receivedField,
  rewindsField,
  runField,
  specField,
  stepField,
  taskField,
  turnField,
} from '../model.ts';
import { type ChangesOf, countUsage, type EventsOf, noChange, type StateChanges } from './state-changes.ts';

/** The changes of a run, its turns and its messages. */
export const runChanges: ChangesOf<EventsOf<'run' | 'turn' | 'message' | 'calls'>> = {
  'run.created': (state, { time, data }) => {
    const { title, toolset, planner, model, labels, priority, dry_run, tenant, created_by, traceparent } = data;
    state.set(runField.status, 'queued');
    state.set(specField, data.spec);
    state.set(runField.header, { title, toolset, planner, model, labels, priority, dry_run });
    state.set(runField.created_at, time);
    state.set(runField.tenant, tenant);
    state.set(runField.created_by, created_by);
    state.set(runField.traceparent, traceparent);
    state.set(runField.turn, data.forked_from?.turn ?? 0);
    state.set(runField.turn_steps, []);
    state.set(runField.open, 0);
    state.set(runField.parked, 0);
    state.set(runField.tools, data.tools);
    state.set(runField.publication, 'none');
    state.set(runField.parent, data.parent);
    if (data.forked_from === undefined) return;
    const { turn, names } = data.forked_from;
    state.set(runField.budget_from, { turn, steps: 0, active_ms: 0, tokens: 0, cost_micros: 0, agents: 0 });
    state.set(runField.forked_from, data.forked_from);
    for (const [name, id] of Object.entries(names)) state.set(namedField(name), id);
  },
  'run.started': (state, { time }) => {
    state.set(runField.status, 'running');
    state.set(runField.started_at, time);
    startClock(state, time);
  },
  'run.waiting': (state, { time, data }) => {
    state.set(runField.status, 'waiting');
    if (data.for === 'calls') state.set(runField.awaits_calls, time);
    stopClock(state, time);
  },
  'run.resumed': (state, { time, data: { status, used, tools, after, model, by } }) => {
    state.set(runField.status, status);
    if (after === 'calls') state.clear(runField.awaits_calls);
    state.set(runField.budget_from, used);
    state.set(runField.tools, tools);
    state.set(runField.model, model);
    if (after === 'pause' || after === 'end') {
      state.clear(runField.reason);
      state.clear(runField.repetition);
    }
    // A person asked for the next try of the model now, or for another model.
    if (by !== undefined) {
      state.clear(runField.model_wait);
      state.clear(runField.models_left);
    }
    if (after === 'end') {
      state.clear(runField.ended_at);
      state.clear(runField.message);
      state.clear(runField.output);
    }
    if (status === 'running') startClock(state, time);
  },
  'run.extended': (state, { data }) => state.set(runField.budget_from, data.used),
  'run.paused': (state, { time, data }) => {
    state.set(runField.status, 'paused');
    if (data.from === 'waiting') state.clear(runField.awaits_calls);
    state.set(runField.reason, data.reason);
    if (data.from === 'running') stopClock(state, time);
  },
  'run.rewound': (state, { data }) => {
    const { turn, steps, open, snapshot, undone, lost_tasks = [] } = data;
    state.set(runField.turn, turn);
    state.set(runField.turn_steps, steps);
    state.set(runField.open, open);
    state.set(runField.snapshot, snapshot);
    state.mark(rewindsField, runField.seq, { text: ' ', ahead: 1 });
    state.set(runField.restore, 'due');
    state.clear(runField.writer);
    state.clear(runField.closing);
    for (const id of lost_tasks) {
      state.set(taskField.status(id), 'lost');
      state.set(taskField.outcome(id), { status: 'lost', exit_code: null, reason: takenBack });
    }
    state.increase(runField.alive, -undone.length);
    if (steps.length > 0) listTurn(state, turn, steps, { ahead: open - steps.length });
    for (const { id, name } of undone) {
      state.overrule(stepField.status(id), 'undone');
      if (name !== undefined) state.clear(namedField(name));
    }
  },
  'run.forked': (state, { data }) => {
    state.set(forkField(data.child), data.snapshot);
    state.increase(runField.forks);
  },
  'run.closing': (state, { data }) => state.set(runField.closing, data),
  'run.canceling': (state, { time, data }) => {
    state.set(runField.status, 'canceling');
    if (data.from === 'waiting') state.clear(runField.awaits_calls);
    if (data.from === 'running') stopClock(state, time);
  },
  'run.canceled': (state, { time, data }) => {
    // A killed step may leave changes in the tree. A retry rebuilds the tree first.
    state.set(runField.status, 'canceled');
    state.set(runField.taken, data.dropped);
    state.set(runField.ended_at, time);
    state.clear(runField.writer);
    state.clear(runField.merging);
  },
  'run.succeeded': (state, { time, data }) => {
    state.set(runField.status, 'succeeded');
    state.set(runField.message, data.message);
    state.set(runField.output, data.output);
    end(state, time);
  },
  'run.failed': (state, { time, data }) => {
    state.set(runField.status, 'failed');
    state.set(runField.reason, data.reason);
    end(state, time);
  },
  'run.repaired': noChange,
  'turn.planned': (state, { data: { turn, steps, usage, repetition, messages_read, received } }) => {
    state.set(runField.turn, turn);
    state.set(runField.turn_steps, steps);
    state.raise(runField.last_turn, turn);
    if (steps.length > 0) listTurn(state, turn, steps);
    state.set(runField.open, steps.length);
    state.set(runField.repetition, repetition);
    state.set(runField.messages_read, messages_read);
    state.set(runField.taken, received);
    state.clear(runField.model_wait);
    if (usage === undefined) return;
    countUsage(state, usage);
    state.set(runField.context_tokens, usage.input_tokens);
  },
  'calls.received': (state, { time, data: { number, by: _, key, request, ...posted } }) => {
    state.set(runField.received, number);
    state.set(receivedField(number), { ...posted, at: time });
    if (key !== undefined && request !== undefined) state.set(callsKeyField(key), { number, request });
  },
  'message.received': (state, { data }) => {
    state.set(messageField(data.message_id), 'received');
    state.increase(runField.messages);
  },
};

/** @param from.ahead of the present steps, when some of the turn are among them */
function listTurn(
  state: StateChanges,
  turn: number,
  steps: readonly string[],
  { ahead }: { ahead?: number } = {},
): void {
  state.mark(turnField(turn), runField.alive, { text: `;${steps.join(' ')}@`, ahead });
}

function end(state: StateChanges, time: string): void {
  state.set(runField.ended_at, time);
  state.clear(runField.closing);
  stopClock(state, time);
}

// The sum of all stops minus the sum of all starts is the time between them.
const startClock = (state: StateChanges, time: string): void => state.increase(runField.active_ms, -Date.parse(time));
const stopClock = (state: StateChanges, time: string): void => state.increase(runField.active_ms, Date.parse(time));

const takenBack = {
  code: 'ETASKLOST',
  message: 'The command had ended, and an undo took its changes back.',
  next: 'Start it again if it is still needed.',
};
