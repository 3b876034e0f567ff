import { attribute, type Meaning, madeSnapshot, noAudit, set, spanKeys } from '../meaning.ts';

export const workspaceSnapshotted: Meaning<'workspace.snapshotted'> = {
  changes(state, { step_id, data }, { run, step }) {
    state.set(step.snapshot(step_id), data.snapshot);
    state.clear(run.writer);
  },
  span: (trace, { step_id, data: { attempt, snapshot, files_changed } }) =>
    set(trace, spanKeys.attempt(step_id, attempt), {
      [attribute.snapshot]: snapshot,
      [attribute.filesChanged]: files_changed,
    }),
  audit: noAudit,
  snapshot: ({ step_id, data }) => madeSnapshot(data, { step: step_id }),
};
