import type { PointerError } from '@holdpoint/client/wire/problem';
import type { CreateRunBody } from '@holdpoint/client/wire/run';
import { toPointer } from '@holdpoint/engine/domain/json-pointer';
import { type PlanStep, references } from '@holdpoint/engine/domain/plan';
import type { Network, Task } from '@holdpoint/engine/domain/run-spec';
import { describeModelProblem } from '@holdpoint/models/model-problem';
import { EgressError } from '@holdpoint/sandbox/egress/errors';
import { createGuard } from '@holdpoint/sandbox/egress/guard';
import { WorkspaceError } from '@holdpoint/workspace/errors';
import type { Source } from '@holdpoint/workspace/port';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { PlacedError } from '../../errors/placed-error.ts';

/**
 * Everything that can be wrong with a request and needs more than its shape is found here, before anything is written.
 * @throws ApiProblem `unknown_toolset`, `invalid_network`, `invalid_plan`, `model_not_configured`, `invalid_model_name`; WorkspaceError about the source
 */
export async function checkRequest(
  deps: Pick<ApiDeps, 'catalog' | 'workspaces' | 'models' | 'allowAddresses'>,
  body: CreateRunBody,
): Promise<Task> {
  checkToolset(deps, body.toolset);
  checkNetwork(deps, body.network);
  const task = checkTask(deps, body);
  await checkSource(deps, body.workspace.source);
  return task;
}

function checkNetwork({ allowAddresses }: Pick<ApiDeps, 'allowAddresses'>, { allow }: Network): void {
  const errors = allow.flatMap((rule, index): (PointerError & { next: string })[] => {
    try {
      createGuard({ rules: [rule], allowAddresses });
      return [];
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return [{ pointer: toPointer(['network', 'allow', index]), detail: error.message, next: error.next }];
    }
  });
  const [first] = errors;
  if (first === undefined) return;
  const places = errors.map(({ pointer, detail }) => ({ pointer, detail }));
  throw new ApiProblem('invalid_network', first.detail, { next: first.next, errors: places });
}

async function checkSource({ workspaces }: Pick<ApiDeps, 'workspaces'>, source: Source): Promise<void> {
  try {
    await workspaces.check(source);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    const field = error.code === 'EREFUNKNOWN' ? 'ref' : 'path';
    throw new PlacedError(error, [{ pointer: `/workspace/source/${field}`, detail: error.message }]);
  }
}

function checkToolset({ catalog }: Pick<ApiDeps, 'catalog'>, toolset: string): void {
  const known = catalog.toolsets();
  if (known.includes(toolset)) return;
  const detail = `there is no toolset ${toolset}; there is ${known.join(', ')}`;
  throw new ApiProblem('unknown_toolset', detail, { errors: [{ pointer: '/toolset', detail }] });
}

function checkTask(deps: Pick<ApiDeps, 'catalog' | 'models'>, { toolset, plan, prompt, model }: CreateRunBody): Task {
  if (plan !== undefined) {
    const errors = plan.groups.flatMap((group, g) =>
      group.steps.flatMap((step, s) => stepErrors(deps, toolset, step, ['plan', 'groups', g, 'steps', s])),
    );
    const [first] = errors;
    if (first === undefined) return { planner: 'scripted', plan };
    throw new ApiProblem('invalid_plan', `${first.pointer}: ${first.detail}`, { errors: errors.slice(0, mostErrors) });
  }
  return { planner: 'model', prompt: prompt ?? '', model: checkModel(deps, model) };
}

const mostErrors = 100;

/** The arguments of a step with references are known only when it runs; its tool is known now. */
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

function checkModel({ models }: Pick<ApiDeps, 'models'>, asked: string | undefined): string {
  const model = asked ?? models.defaultModel;
  if (model === undefined) {
    throw new ApiProblem('model_not_configured', 'a prompt needs a model, and none is configured', {
      errors: [{ pointer: '/model', detail: 'not given, and HOLDPOINT_MODEL is not set' }],
    });
  }
  const problem = describeModelProblem(model, models);
  if (problem === null) return model;
  const { code, message, next } = problem;
  throw new ApiProblem(code === 'EMODELNAME' ? 'invalid_model_name' : 'model_not_configured', message, {
    next,
    errors: [{ pointer: '/model', detail: message }],
  });
}
