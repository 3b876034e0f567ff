import { type Plan, type PlanStep, references, toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

const mostErrors = 100;

/** Every call of a plan, at `/plan` of the request. @throws ApiProblem `invalid_plan` */
export function checkPlan(deps: Pick<ApiDeps, 'catalog'>, toolset: string, plan: Plan): void {
  const errors = plan.groups.flatMap((group, g) =>
    group.steps.flatMap((step, s) => stepErrors(deps, toolset, step, ['plan', 'groups', g, 'steps', s])),
  );
  const [first] = errors;
  if (first === undefined) return;
  throw new ApiProblem('invalid_plan', `${first.pointer}: ${first.detail}`, { errors: errors.slice(0, mostErrors) });
}

/** The arguments of a step with references are known only when the step runs; its tool is known now. */
function stepErrors(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  toolset: string,
  { tool, args }: PlanStep,
  path: (string | number)[],
): PointerError[] {
  const described = catalog.describe({ toolset, tool, args });
  if (described.ok) return [];
  const { error, issues } = described;
  if (error.code === 'EUNKNOWNTOOL') {
    return [{ pointer: toPointer([...path, 'tool']), detail: `${error.message} ${error.next ?? ''}`.trim() }];
  }
  if (references(args).length > 0) return [];
  const here = toPointer([...path, 'args']);
  if (issues.length === 0) return [{ pointer: here, detail: error.message }];
  return issues.map(({ pointer, detail }) => ({ pointer: `${here}${pointer}`, detail }));
}
