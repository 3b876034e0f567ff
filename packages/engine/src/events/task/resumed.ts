import { type Meaning, noAudit, note } from '../meaning.ts';

export const taskResumed: Meaning<'task.resumed'> = {
  changes: (state, { data }) => state.setReport(data),
  span: (trace, { data }) => note(trace, data.task_id, 'sub-agent continues'),
  audit: noAudit,
};
