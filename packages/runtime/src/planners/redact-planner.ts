import type { Planner } from '@holdpoint/engine/worker';
import type { Secrets } from '@holdpoint/secrets';

/** A planner whose calls have no value of a secret: a result that its toolset puts together may have one that no text in the log has. */
export const redactPlanner = (planner: Planner, secrets: Secrets): Planner => ({
  async next(input, signal) {
    const decision = await planner.next(input, signal);
    return secrets.redactor(input.scope.tenant).json(decision);
  },
});
