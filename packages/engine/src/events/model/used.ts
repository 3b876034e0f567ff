import { type Meaning, noAudit, noSpan } from '../meaning.ts';

export const modelUsed: Meaning<'model.used'> = {
  changes: (state, { data: { usage } }) => state.countUsage(usage),
  span: noSpan,
  audit: noAudit,
};
