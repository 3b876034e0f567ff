import { type Meaning, noAudit, note } from '../meaning.ts';

export const taskWaiting: Meaning<'task.waiting'> = {
  changes: (state, { data }) => state.setReport(data),
  span: (trace, { data }) => note(trace, data.task_id, 'sub-agent waits'),
  audit: noAudit,
};
