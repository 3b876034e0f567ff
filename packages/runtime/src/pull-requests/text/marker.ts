/**
 * The first line of the body of a pull request, hidden from its readers. A text of a model can have such a line only below, so no run takes
 * the pull request of another one for its own.
 */
export const markerOf = (runId: string): string => `<!-- holdpoint:${runId} -->`;

export const isMarked = (body: string | null, runId: string): boolean =>
  body?.split('\n', 1)[0]?.trimEnd() === markerOf(runId);
