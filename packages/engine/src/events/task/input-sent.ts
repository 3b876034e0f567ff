import { type Meaning, note, runRecord } from '../meaning.ts';

export const taskInputSent: Meaning<'task.input_sent'> = {
  changes: (state, { step_id, data: { task_id, end, stdout, stderr } }, { task }) =>
    state.set(task.input(task_id), { step_id, end, stdout, stderr }),
  span: (trace, { data }) => note(trace, data.task_id, 'input sent'),
  audit: { record: runRecord },
};
