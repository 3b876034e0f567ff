import {
  agentsTotalSchema,
  event,
  problemText,
  restore,
  type TaskOutcome,
  taskIdSchema,
  taskOutcomeSchema,
  taskStatusSchema,
} from '../event.ts';

export const taskEnded = event('task.ended', {
  data: {
    task_id: taskIdSchema,
    status: taskStatusSchema.extract(['completed', 'failed', 'killed', 'timed_out', 'lost']),
    ...taskOutcomeSchema.shape,
    total: agentsTotalSchema.optional().describe('The total, with all that the sub-agent used'),
    restore,
  },
  line: ({ data }) => endText(data),
});

export function endText({ task_id, status, exit_code, reason }: TaskOutcome & { task_id: string; status: string }) {
  const code = exit_code === null ? '' : ` (exit code ${exit_code})`;
  return `${task_id} ${status}${code}${reason === undefined ? '' : ` ${problemText(reason)}`}`;
}
