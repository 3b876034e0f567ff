import { type Meaning, noAudit, noSpan } from '../meaning.ts';

export const taskReserved: Meaning<'task.reserved'> = {
  changes: (state, { data }, { reserved }) => state.set(reserved(data.for_step), data.task_id),
  span: noSpan,
  audit: noAudit,
};
