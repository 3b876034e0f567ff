import { type Meaning, noAudit, noSpan } from '../meaning.ts';

export const taskUsed: Meaning<'task.used'> = {
  changes: (state, { data }) => state.setReport(data),
  span: noSpan,
  audit: noAudit,
};
