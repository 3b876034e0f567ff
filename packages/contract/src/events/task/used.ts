import { agentReportSchema, agentsTotalSchema, event, taskIdSchema } from '../event.ts';

/** The report of a sub-agent, and the total over all sub-agents of the run. */
export const report = { task_id: taskIdSchema, report: agentReportSchema, total: agentsTotalSchema };

export const taskUsed = event('task.used', {
  data: report,
  line({ data }, { counted }) {
    const { steps, input_tokens, output_tokens } = data.report.used;
    return `${data.task_id} ${counted(steps, 'step')}, ${input_tokens + output_tokens} tokens so far`;
  },
  tone: 'faint',
  isQuiet: true,
});
