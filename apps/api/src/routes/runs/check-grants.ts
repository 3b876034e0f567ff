import { type AskedGrants, grantProblems, type WrittenGrants, widened } from '@holdpoint/policy';
import { ApiProblem } from '../../errors/api-problem.ts';

/**
 * Permissions and protected paths must parse, and the permissions of a fork may not go beyond the original run.
 * @throws ApiProblem `invalid_permissions`, `permissions_widened`
 */
export function checkGrants(asked: AskedGrants, parent?: WrittenGrants): void {
  refuse('invalid_permissions', grantProblems(asked));
  if (parent !== undefined) refuse('permissions_widened', widened(parent, asked));
}

function refuse(
  code: 'invalid_permissions' | 'permissions_widened',
  errors: readonly { pointer: string; detail: string }[],
): void {
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem(code, `${first.pointer}: ${first.detail}`, { errors: [...errors] });
}
