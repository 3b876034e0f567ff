import { hash } from 'node:crypto';

/** Ids as docs/tracing.md promises them: the engine, which folds the spans of a run, computes the same. */
const digest = (text: string): string => hash('sha256', text);

export const traceOfSegment = (runId: string, segment: number): string =>
  digest(`${runId}/trace/${segment}`).slice(0, 32);
export const spanOfSegment = (runId: string, segment: number): string =>
  digest(`${runId}/segment/${segment}`).slice(0, 16);
/** The span of a step, or that of the run. */
export const spanOfWork = (runId: string, stepId: string | undefined): string =>
  digest(`${runId}/${stepId ?? 'run'}`).slice(0, 16);
