import { endPrepare, type Meaning, noAudit } from '../meaning.ts';

export const workspacePrepareFailed: Meaning<'workspace.prepare_failed'> = {
  changes(state, { data }, { run }) {
    state.clear(run.preparing);
    if (data.restore) state.set(run.restore, 'due');
  },
  span: (trace) => endPrepare(trace, { code: 'prepare_failed' }),
  audit: noAudit,
};
