import { epoch, event, z } from '../event.ts';

export const workspaceDistrusted = event('workspace.distrusted', {
  data: {
    epoch,
    reason: z
      .enum(['other_boot', 'log_went_back', 'tree_changed', 'forbidden_change', 'merge_interrupted'])
      .describe(
        'other_boot: the machine restarted after the tree was written. log_went_back: the tree is ahead of the log, so Redis lost acknowledged writes. tree_changed: the files differ from the snapshot. forbidden_change: a background command changed a path that the run may not change. merge_interrupted: the worker that merged a sub-agent was lost',
      ),
    detail: z.string(),
  },
  line: ({ data }) => `${data.reason}: ${data.detail} The tree is rebuilt from the last snapshot.`,
});
