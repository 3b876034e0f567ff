import { attribute, type Meaning, noAudit, note, spanKeys } from '../meaning.ts';

export const workspaceDistrusted: Meaning<'workspace.distrusted'> = {
  changes: (state) => state.requireRestore(),
  span: (trace, { data: { reason, epoch } }) =>
    note(trace, spanKeys.run(trace.life), 'workspace distrusted', {
      [attribute.workspaceReason]: reason,
      [attribute.epoch]: epoch,
    }),
  audit: noAudit,
};
