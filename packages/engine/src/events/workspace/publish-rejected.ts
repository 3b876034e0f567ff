import { endPublish, type Meaning, ofPublish, problemOf } from '../meaning.ts';

export const workspacePublishRejected: Meaning<'workspace.publish_rejected'> = {
  changes: (state, { data: { reason } }) => state.endPublication('rejected', { reason }),
  span: (trace, { data }) => endPublish(trace, 'rejected', { code: data.reason.code }),
  audit: {
    record: (facts, event, redact) => ({
      ...ofPublish(facts, event),
      ...{ status: 'rejected', error: problemOf(event.data.reason, redact) },
    }),
  },
};
