import { type Meaning, note, runRecord } from '../meaning.ts';

export const taskKillRequested: Meaning<'task.kill_requested'> = {
  changes: (state, { data }, { task }) => state.set(task.kill(data.task_id), data.by),
  span: (trace, { data }) => note(trace, data.task_id, 'kill requested'),
  audit: { record: runRecord },
};
