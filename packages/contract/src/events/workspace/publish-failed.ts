import { event, problemSchema, problemText, snapshotIdSchema } from '../event.ts';

export const workspacePublishFailed = event('workspace.publish_failed', {
  data: { snapshot: snapshotIdSchema, reason: problemSchema },
  line: ({ data }) => problemText(data.reason),
  tone: 'bad',
});
