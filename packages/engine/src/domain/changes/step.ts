import type { EventOf } from '@holdpoint/contract';
import { heads, namedField, runField, stepField, toolIndex } from '../model.ts';
import { type ChangesOf, countUsage, type EventsOf, requireRestore, type StateChanges } from './state-changes.ts';

export const stepChanges: ChangesOf<EventsOf<'step'>> = {
  'step.created': (state, { step_id, time, data: { args, verdict, policies, ...call } }) => {
    state.set(stepField.call(step_id), call);
    if (verdict !== undefined || policies !== undefined) state.set(stepField.judged(step_id), { verdict, policies });
    state.set(stepField.args(step_id), args);
    state.set(stepField.effect(step_id), call.effect);
    state.mark(stepField.created_seq(step_id), runField.seq, { ahead: 1 });
    state.set(stepField.status(step_id), 'pending');
    state.set(stepField.attempt(step_id), 0);
    state.set(stepField.created_at(step_id), time);
    state.list(toolIndex(call.tool), call.turn);
    if (call.name !== undefined) state.set(namedField(call.name), step_id);
    state.increase(runField.steps);
    state.increase(runField.alive);
  },
  'step.queued': (state, { step_id, time, data }) => {
    state.set(stepField.status(step_id), 'queued');
    state.set(stepField.written(step_id), data.written);
    state.increase(stepField.queued_ms(step_id), -Date.parse(time));
    state.set(stepField.args(step_id), data.args);
    state.set(stepField.effect(step_id), data.effect);
  },
  'step.started': (state, { step_id, time, data }) => {
    state.set(stepField.status(step_id), 'running');
    state.set(stepField.attempt(step_id), data.attempt);
    state.set(stepField.started_at(step_id), time);
    state.set(stepField.began_at(step_id), data.began_at);
    if (!data.waited) state.increase(stepField.queued_ms(step_id), Date.parse(time));
    state.set(stepField.worker(step_id), data.worker);
    if (!data.writes) return;
    state.set(runField.writer, step_id);
    state.set(runField.head, heads.attempt(step_id, data.attempt));
  },
  // The status follows from the approval of the same append.
  'step.held': (state, { step_id, data }) => {
    state.clear(stepField.started_at(step_id));
    if (data.writes) state.clear(runField.writer);
  },
  'step.deferred': (state, { step_id, data: { until, task_id, begins } }) => {
    state.set(stepField.status(step_id), 'deferred');
    state.set(stepField.deferred(step_id), { until, task_id, begins });
  },
  'step.model_used': (state, { data: { usage } }) => countUsage(state, usage),
  'step.cancel_requested': (state, { step_id, time, data }) =>
    state.set(stepField.cancel(step_id), { ...data, at: time }),
  'step.retried': (state, { step_id, time, data }) => {
    state.set(stepField.status(step_id), 'queued');
    state.increase(stepField.queued_ms(step_id), -Date.parse(time));
    state.increase(stepField.interruptions(step_id));
    if (data.restore) requireRestore(state);
  },
  'step.indeterminate': (state, { step_id, data }) => {
    state.set(stepField.status(step_id), 'indeterminate');
    if (data.restore) requireRestore(state);
  },
  'step.succeeded': settleAs('succeeded'),
  'step.failed': settleAs('failed'),
  'step.killed': settleAs('killed'),
  'step.timed_out': settleAs('timed_out'),
  'step.rejected': settleAs('rejected'),
  'step.expired': settleAs('expired'),
  'step.canceled': settleAs('canceled'),
};

type SettledStatus = 'succeeded' | 'failed' | 'killed' | 'timed_out' | 'rejected' | 'expired' | 'canceled';

function settleAs(status: SettledStatus) {
  return (state: StateChanges, { step_id, time, data }: EventOf<`step.${SettledStatus}`>): void => {
    const { value, error, attempt, duration_ms, inherited_from, grants, times, instead, usage, restore, writes } = data;
    state.set(stepField.status(step_id), status);
    const origin = { inherited_from, grants, times };
    state.set(stepField.outcome(step_id), { attempt, value, error, duration_ms, instead, ...origin });
    state.set(stepField.settled_at(step_id), time);
    state.mark(stepField.settled_seq(step_id), runField.seq, { ahead: 1 });
    state.pack(step_id);
    state.increase(runField.open, -1);
    if (usage !== undefined) countUsage(state, usage);
    if (writes) state.clear(runField.writer);
    if (restore) requireRestore(state);
  };
}
