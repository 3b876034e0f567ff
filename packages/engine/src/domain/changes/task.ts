import type { EventOf } from '@holdpoint/contract';
import { heads, reservedField, runField, stepField, taskField, tasksField } from '../model.ts';
import { type ChangesOf, type EventsOf, requireRestore, type StateChanges } from './state-changes.ts';

export const taskChanges: ChangesOf<EventsOf<'task'>> = {
  'task.created': (state, { step_id, time, data: { task_id, ...about } }) => {
    state.set(taskField.status(task_id), 'queued');
    state.mark(tasksField, runField.seq, { text: ` ${task_id}:`, ahead: 1 });
    state.set(taskField.about(task_id), { step_id, ...about });
    state.set(taskField.created_at(task_id), time);
    state.set(stepField.task(step_id), task_id);
    state.increase(runField.open_tasks);
    if (about.kind === 'agent') state.increase(runField.agents);
  },
  'task.started': (state, { time, data: { task_id, worker, epoch } }) => {
    state.set(taskField.status(task_id), 'running');
    state.set(taskField.worker(task_id), worker);
    state.set(taskField.started_at(task_id), time);
    // A sub-agent has a tree of its own.
    if (epoch === undefined) return;
    state.set(taskField.epoch(task_id), epoch);
    state.set(runField.head, heads.task(task_id));
    state.increase(runField.uncaptured);
  },
  'task.kill_requested': (state, { data }) => state.set(taskField.kill(data.task_id), data.by),
  'task.exited': (state, { data: { task_id, ...outcome } }) => {
    state.set(taskField.status(task_id), 'capturing');
    state.set(taskField.outcome(task_id), outcome);
  },
  'task.ended': (state, { time, data: { task_id, restore, total, ...outcome } }) => {
    state.set(taskField.status(task_id), outcome.status);
    state.set(taskField.outcome(task_id), outcome);
    state.set(taskField.ended_at(task_id), time);
    state.set(runField.agents_total, total);
    state.increase(runField.open_tasks, -1);
    if (restore) requireRestore(state);
  },
  'task.used': setReport,
  'task.waiting': setReport,
  'task.resumed': setReport,
  'task.reserved': (state, { data }) => state.set(reservedField(data.for_step), data.task_id),
};

function setReport(state: StateChanges, { data }: EventOf<'task.used' | 'task.waiting' | 'task.resumed'>): void {
  state.set(taskField.report(data.task_id), data.report);
  state.set(runField.agents_total, data.total);
}
