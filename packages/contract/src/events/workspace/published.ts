import { event, publishedSchema, snapshotIdSchema } from '../event.ts';

export const workspacePublished = event('workspace.published', {
  data: { snapshot: snapshotIdSchema, published: publishedSchema },
  line({ data: { published } }) {
    if ('branch' in published) return `branch ${String(published.branch)}`;
    return 'path' in published ? `directory ${String(published.path)}` : '';
  },
  tone: 'good',
});
