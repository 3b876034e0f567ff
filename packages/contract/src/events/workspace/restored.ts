import { epoch, event, short, snapshotIdSchema } from '../event.ts';

export const workspaceRestored = event('workspace.restored', {
  data: { snapshot: snapshotIdSchema, epoch: epoch.optional() },
  line: ({ data }) => `${short(data.snapshot)}: files restored`,
  isQuiet: true,
});
