import * as events from '../event.ts';

export const taskEnded = events.event('task.ended', {
  data: {
    task_id: events.taskIdSchema,
    status: events.taskStatusSchema.extract(['completed', 'failed', 'killed', 'timed_out', 'lost']),
    ...events.taskOutcomeSchema.shape,
    total: events.agentsTotalSchema.optional().describe('The total, with all that the sub-agent used'),
    restore: events.restore,
  },
  line: ({ data }) => endText(data),
});

export function endText({
  task_id,
  status,
  exit_code,
  reason,
}: events.TaskOutcome & { task_id: string; status: string }) {
  const code = exit_code === null ? '' : ` (exit code ${exit_code})`;
  return `${task_id} ${status}${code}${reason === undefined ? '' : ` ${events.problemText(reason)}`}`;
}
