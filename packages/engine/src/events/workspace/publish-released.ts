import { type Meaning, noAudit, note, spanKeys } from '../meaning.ts';

export const workspacePublishReleased: Meaning<'workspace.publish_released'> = {
  changes(state, { data }, { run }) {
    state.set(run.publication, 'requested');
    state.set(run.publish_release, data);
    state.clear(run.publication_detail);
  },
  span: (trace) => note(trace, spanKeys.publish(trace.publishes), 'publish released'),
  audit: noAudit,
};
