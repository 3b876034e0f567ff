import type { Planner } from '@holdpoint/engine/worker';
import type { Secrets } from '@holdpoint/secrets';
import { observe } from '../observe.ts';

/**
 * Redacts the calls of a planner: a result put together by the toolset may contain the value of a secret, although no text in the log does.
 */
export const redactPlanner = (planner: Planner, secrets: Secrets): Planner =>
  observe(planner, {
    next: (act) => async (input, signal) => secrets.redactor(input.scope.tenant).json(await act(input, signal)),
  });
