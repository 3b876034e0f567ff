import { event, publishedSchema, snapshotIdSchema } from '../event.ts';

export const workspacePublished = event('workspace.published', {
  data: { snapshot: snapshotIdSchema, published: publishedSchema },
  line({ data: { published } }) {
    if (published.type === 'git' && published.pull_request) return `pull request ${published.pull_request.url}`;
    if ('branch' in published) return `branch ${String(published.branch)}`;
    return 'path' in published ? `directory ${String(published.path)}` : '';
  },
  tone: 'good',
});
