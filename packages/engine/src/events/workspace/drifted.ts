import { attribute, type Meaning, madeSnapshot, noAudit, note } from '../meaning.ts';

export const workspaceDrifted: Meaning<'workspace.drifted'> = {
  changes: (state, _event, { run }) => state.clear(run.writer),
  span: (trace, { step_id, data }) =>
    note(trace, step_id, 'workspace drifted', { [attribute.filesChanged]: data.files_changed }),
  audit: noAudit,
  snapshot: ({ data }) => madeSnapshot(data, null),
};
