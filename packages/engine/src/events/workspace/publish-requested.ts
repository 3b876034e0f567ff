import { beginPublish, type Meaning, runRecord } from '../meaning.ts';

export const workspacePublishRequested: Meaning<'workspace.publish_requested'> = {
  changes(state, { data: { by: _, ...request } }, { run }) {
    state.set(run.publication, 'requested');
    state.set(run.publish_request, request);
    state.clear(run.publish_release);
    state.clear(run.validated);
    state.clear(run.validating);
    state.clear(run.publication_detail);
  },
  span: (trace, { data }) => beginPublish(trace, data.number, data.snapshot),
  audit: {
    learn: (facts, { data }) => {
      facts.publishBy = data.by;
    },
    record: runRecord,
  },
};
