import { event, problemSchema, problemText } from '../event.ts';

export const workspacePublishRejected = event('workspace.publish_rejected', {
  data: { reason: problemSchema },
  line: ({ data }) => problemText(data.reason),
  tone: 'warning',
});
