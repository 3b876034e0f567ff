import { attribute, learnSnapshot, type Meaning, note } from '../meaning.ts';

export const workspaceDrifted: Meaning<'workspace.drifted'> = {
  changes(state, { data }, { run }) {
    state.setSnapshot(data.snapshot);
    state.clear(run.writer);
  },
  span: (trace, { step_id, data }) =>
    note(trace, step_id, 'workspace drifted', { [attribute.filesChanged]: data.files_changed }),
  audit: { learn: learnSnapshot },
};
