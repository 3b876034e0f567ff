import { conflictSummarySchema, event, snapshotIdSchema, z } from '../event.ts';

export const workspaceConflicted = event('workspace.conflicted', {
  data: {
    snapshot: snapshotIdSchema,
    conflicts: z.array(conflictSummarySchema),
    parked: z.literal(true).optional().describe('A person is asked in the same append'),
  },
  line: () => 'the source has changed since the run began; nothing was published',
  tone: 'bad',
});
