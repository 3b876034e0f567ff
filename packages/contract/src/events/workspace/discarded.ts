import { event } from '../event.ts';

export const workspaceDiscarded = event('workspace.discarded', { data: {}, line: () => '' });
