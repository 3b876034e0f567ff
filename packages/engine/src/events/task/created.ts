import { attribute, learnTask, linkToRun, linkType, type Meaning, open, spanKeys, spanName } from '../meaning.ts';

export const taskCreated: Meaning<'task.created'> = {
  changes(state, { step_id, time, data: { task_id, ...about } }, { run, step, task, tasks }) {
    state.set(task.status(task_id), 'queued');
    state.mark(tasks, run.seq, { text: ` ${task_id}:`, ahead: 1 });
    state.set(task.about(task_id), { step_id, ...about });
    state.set(task.created_at(task_id), time);
    state.set(step.task(step_id), task_id);
    state.increase(run.open_tasks);
    if (about.kind === 'agent') state.increase(run.agents);
  },
  span(trace, { seq, step_id, data: { task_id, kind, child } }) {
    open(trace, task_id, {
      kind: 'task',
      name: spanName.task(kind),
      attributes: {
        [attribute.taskId]: task_id,
        [attribute.taskKind]: kind,
        [attribute.stepId]: step_id,
        [attribute.childRunId]: child,
      },
      links: child === undefined ? [] : [linkToRun(child, linkType.subAgent)],
    });
    open(trace, spanKeys.at('wait', seq), {
      kind: 'wait',
      name: spanName.wait('queue'),
      parent: task_id,
      attributes: { [attribute.waitFor]: 'queue', [attribute.taskId]: task_id },
    });
  },
  audit: { learn: learnTask },
};
