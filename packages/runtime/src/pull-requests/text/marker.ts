/**
 * The first line of the body of a pull request, hidden from its readers. A text of a model can have such a line only below, so no run takes
 * the pull request of another one for its own.
 */
export const markerOf = (runId: string): string => `<!-- holdpoint:${runId} -->`;

export const isMarked = (body: string | null, runId: string): boolean =>
  body?.split('\n', 1)[0]?.trimEnd() === markerOf(runId);

/** The first line of an answer. Its number was chosen before the answer was sent, so only a comment of ours can have it first. */
export const answerMarker = (runId: string, nonce: string): string => `<!-- holdpoint:${runId}:${nonce} -->`;

/** A comment of Holdpoint itself never reaches a run. */
export const isOurs = (body: string): boolean => /^\s*<!-- holdpoint:run_/.test(body);
