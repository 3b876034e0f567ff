import { attempt, short, snapshotIdSchema, stepEvent, z } from '../event.ts';

export const workspaceSnapshotted = stepEvent('workspace.snapshotted', {
  data: {
    attempt,
    snapshot: snapshotIdSchema,
    parent: snapshotIdSchema,
    files_changed: z.int(),
    skipped: z.int(),
  },
  line: ({ data }, { call }) => `${short(data.snapshot)}: ${data.files_changed} changed after ${call}`,
  tone: 'faint',
  isQuiet: true,
});
