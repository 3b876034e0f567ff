import { attribute, close, general, hostsOf, type Meaning, ofRun, set, spanKeys } from '../meaning.ts';

export const taskEnded: Meaning<'task.ended'> = {
  changes(state, { time, data: { task_id, restore, total, ...outcome } }, { run, task }) {
    state.set(task.status(task_id), outcome.status);
    state.set(task.outcome(task_id), outcome);
    state.set(task.ended_at(task_id), time);
    state.set(run.agents_total, total);
    state.increase(run.open_tasks, -1);
    if (restore) state.requireRestore();
  },
  span(trace, { data }) {
    const { task_id, status, exit_code, reason, merged, command } = data;
    const conflicts = merged !== undefined && 'conflicts' in merged ? merged.total : undefined;
    if (conflicts !== undefined) set(trace, spanKeys.capture(task_id), { [attribute.conflicts]: conflicts });
    const failed = status === 'failed' || status === 'timed_out' || status === 'lost' || status === 'killed';
    close(trace, task_id, {
      status: status === 'completed' ? 'ok' : failed ? 'error' : 'unset',
      code: failed ? reason?.code : undefined,
      attributes: {
        [attribute.taskOutcome]: status,
        [general.exitCode]: exit_code ?? undefined,
        [general.errorType]: reason?.code,
        [attribute.commandCpuMs]: command?.cpu_ms,
        [attribute.commandMemoryBytes]: command?.memory_bytes,
        [attribute.commandOutputBytes]: command?.output_bytes,
      },
    });
  },
  audit: {
    record(facts, event) {
      const { task_id, status, exit_code } = event.data;
      const known = facts.tasks.get(task_id);
      facts.tasks.delete(task_id);
      return {
        ...{ kind: 'task', ...ofRun(facts, event), task_id, status, exit_code },
        ...{ step_id: known?.created.step_id, about: known?.created.data.kind },
        snapshot: { before: known?.before ?? null, after: facts.snapshot },
        ...(known && hostsOf(known.network)),
      };
    },
  },
};
