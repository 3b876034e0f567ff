import { attribute, type Meaning, noAudit, open, spanKeys, spanName } from '../meaning.ts';

export const taskExited: Meaning<'task.exited'> = {
  changes(state, { data: { task_id, ...outcome } }, { task }) {
    state.set(task.status(task_id), 'capturing');
    state.set(task.outcome(task_id), outcome);
  },
  span(trace, { data: { task_id } }) {
    const merges = trace.open.get(task_id)?.attributes[attribute.taskKind] === 'agent';
    const action = merges ? 'merge' : 'capture';
    open(trace, spanKeys.capture(task_id), {
      kind: 'workspace',
      name: spanName.workspace(action),
      parent: task_id,
      attributes: { [attribute.workspaceAction]: action, [attribute.taskId]: task_id },
    });
  },
  audit: noAudit,
};
