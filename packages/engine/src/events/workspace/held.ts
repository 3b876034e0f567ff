import { type Meaning, noAudit, note, spanKeys } from '../meaning.ts';

export const workspaceHeld: Meaning<'workspace.held'> = {
  changes(state, { data }, { run, heads }) {
    state.set(run.writer, data.task_id);
    if (!data.merges) return;
    state.set(run.merging, data.task_id);
    state.set(run.head, heads.task(data.task_id));
    state.increase(run.uncaptured);
  },
  span: (trace, { data }) => note(trace, spanKeys.capture(data.task_id), 'workspace held'),
  audit: noAudit,
};
