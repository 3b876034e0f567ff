import { attribute, close, type Meaning, noAudit } from '../meaning.ts';

export const workspaceDiscarded: Meaning<'workspace.discarded'> = {
  changes(state, _event, { run }) {
    state.set(run.publication, 'discarded');
    state.clear(run.restore);
  },
  span(trace) {
    for (const [key, { attributes }] of trace.open) {
      if (attributes[attribute.workspaceAction] === 'discard') close(trace, key, { status: 'ok' });
    }
  },
  audit: noAudit,
};
