import { attribute, endTakeOver, type Meaning, noAudit } from '../meaning.ts';

export const workspaceRestored: Meaning<'workspace.restored'> = {
  changes: (state, _event, { run }) => state.clear(run.restore),
  span: (trace, { data }) => endTakeOver(trace, { status: 'ok', attributes: { [attribute.snapshot]: data.snapshot } }),
  audit: noAudit,
};
