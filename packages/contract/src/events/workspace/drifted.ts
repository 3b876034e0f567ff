import { short, snapshotIdSchema, stepEvent, z } from '../event.ts';

export const workspaceDrifted = stepEvent('workspace.drifted', {
  data: { snapshot: snapshotIdSchema, parent: snapshotIdSchema, files_changed: z.int(), skipped: z.int() },
  meaning:
    'Background commands, or an agent with its own tools, changed the files beside its calls: this is the snapshot of the files now',
  line: ({ data }) =>
    `${short(data.snapshot)}: the files differ from the approved ones; nothing ran, and the call asks again`,
  tone: 'warning',
});
