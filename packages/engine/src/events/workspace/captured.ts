import { attribute, close, type Meaning, madeSnapshot, noAudit, spanKeys } from '../meaning.ts';

export const workspaceCaptured: Meaning<'workspace.captured'> = {
  changes(state, _event, { run }) {
    state.clear(run.writer);
    state.clear(run.merging);
    state.increase(run.uncaptured, -1);
  },
  span: (trace, { data: { task_id, snapshot, files_changed } }) =>
    close(trace, spanKeys.capture(task_id), {
      status: 'ok',
      attributes: { [attribute.snapshot]: snapshot, [attribute.filesChanged]: files_changed },
    }),
  audit: noAudit,
  snapshot: ({ data }) => madeSnapshot(data, { task: data.task_id }),
};
