import { attribute, close, type Meaning, noAudit, note, set } from '../meaning.ts';

export const taskStarted: Meaning<'task.started'> = {
  changes(state, { time, data: { task_id, worker, epoch } }, { run, task, heads }) {
    state.set(task.status(task_id), 'running');
    state.set(task.worker(task_id), worker);
    state.set(task.started_at(task_id), time);
    // A sub-agent has a tree of its own.
    if (epoch === undefined) return;
    state.set(task.epoch(task_id), epoch);
    state.set(run.head, heads.task(task_id));
    state.increase(run.uncaptured);
  },
  span(trace, { data: { task_id, worker, epoch } }) {
    for (const [key, { parent, kind }] of trace.open) if (parent === task_id && kind === 'wait') close(trace, key);
    set(trace, task_id, { [attribute.worker]: worker, [attribute.epoch]: epoch });
    note(trace, task_id, 'task started');
  },
  audit: noAudit,
};
