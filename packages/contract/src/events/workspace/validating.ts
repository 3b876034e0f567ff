import { event, short, snapshotIdSchema } from '../event.ts';

export const workspaceValidating = event('workspace.validating', {
  data: { snapshot: snapshotIdSchema },
  line: ({ data }) => short(data.snapshot),
  isQuiet: true,
});
