import { event, z } from '../event.ts';

export const runRepaired = event('run.repaired', {
  data: {
    class: z.enum([
      'queued_without_job',
      'decided_but_parked',
      'orphaned_delayed_job',
      'turn_without_successor',
      'running_without_heartbeat',
      'expired',
      'workspace_without_job',
      'task_without_job',
      'parent_not_notified',
      'wait_not_reported',
      'approval_not_indexed',
      'waiting_for_free_place',
    ]),
    subject: z.string().optional().describe('The step or task it was about'),
  },
  line: ({ data }) => `${data.class}${data.subject === undefined ? '' : ` (${data.subject})`}`,
});
