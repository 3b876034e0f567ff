import { hash } from 'node:crypto';

/** Ids as promised in docs/tracing.md: the engine folds the spans of a run and computes the same ids. */
const digest = (text: string): string => hash('sha256', text);

export const traceOfSegment = (runId: string, segment: number): string =>
  digest(`${runId}/trace/${segment}`).slice(0, 32);
export const spanOfSegment = (runId: string, segment: number): string =>
  digest(`${runId}/segment/${segment}`).slice(0, 16);
/** The first exported span of a run. */
export const spanOfSubmission = (runId: string): string => digest(`${runId}/submission`).slice(0, 16);
/** The span of a step, or of the run. */
export const spanOfWork = (runId: string, stepId: string | undefined): string =>
  digest(`${runId}/${stepId ?? 'run'}`).slice(0, 16);
