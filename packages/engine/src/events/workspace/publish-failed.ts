import { endPublish, type Meaning, ofPublish, problemOf } from '../meaning.ts';

export const workspacePublishFailed: Meaning<'workspace.publish_failed'> = {
  changes: (state, { data: { reason } }) => state.endPublication('failed', { reason }),
  span: (trace, { data }) => endPublish(trace, 'failed', { status: 'error', code: data.reason.code }),
  audit: {
    record: (facts, event, redact) => ({
      ...ofPublish(facts, event),
      ...{ status: 'failed', snapshot: event.data.snapshot, error: problemOf(event.data.reason, redact) },
    }),
  },
};
