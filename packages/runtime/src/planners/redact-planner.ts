import type { Planner } from '@holdpoint/engine/worker';
import type { Secrets } from '@holdpoint/secrets';

/**
 * Redacts the calls of a planner: a result put together by the toolset may contain the value of a secret, although no text in the log does.
 */
export const redactPlanner = (planner: Planner, secrets: Secrets): Planner => ({
  async next(input, signal) {
    const decision = await planner.next(input, signal);
    return secrets.redactor(input.scope.tenant).json(decision);
  },
});
