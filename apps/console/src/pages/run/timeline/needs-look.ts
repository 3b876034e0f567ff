import type { StepSummary } from '@holdpoint/contract/wire';

const problems = new Set<StepSummary['status']>([
  ...(['failed', 'killed', 'timed_out', 'parked', 'indeterminate', 'rejected', 'expired'] as const),
]);

/** Steps that failed, or wait for a person. */
export const needsLook = ({ status }: StepSummary): boolean => problems.has(status);
