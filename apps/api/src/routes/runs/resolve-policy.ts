import type { GivenPolicy, RunSpec } from '@holdpoint/contract';
import { EngineError } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/** The document given or named by a request, and the version of a named document. @throws ApiProblem `unknown_policy` */
export async function resolvePolicy(
  { engine }: Pick<ApiDeps, 'engine'>,
  given: GivenPolicy,
): Promise<Pick<RunSpec, 'policy' | 'policy_pin'>> {
  if (!('name' in given)) return { policy: given };
  try {
    return await engine.policies.resolve(given);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'policy_not_found') throw error;
    const pointer = given.version === undefined ? '/policy/name' : '/policy/version';
    throw new ApiProblem('unknown_policy', error.message, { errors: [{ pointer, detail: error.message }] });
  }
}
