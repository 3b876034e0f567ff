import { type Meaning, noAudit, noSpan } from '../meaning.ts';

export const stepModelUsed: Meaning<'step.model_used'> = {
  changes: (state, { data: { usage } }) => state.countUsage(usage),
  span: noSpan,
  audit: noAudit,
};
