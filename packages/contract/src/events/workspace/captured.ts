import { event, short, snapshotIdSchema, taskIdSchema, z } from '../event.ts';

export const workspaceCaptured = event('workspace.captured', {
  data: {
    task_id: taskIdSchema,
    snapshot: snapshotIdSchema,
    parent: snapshotIdSchema,
    files_changed: z.int(),
    skipped: z.int(),
  },
  line: ({ data }) => `${short(data.snapshot)}: ${data.files_changed} changed by ${data.task_id}`,
  isQuiet: true,
});
