import { type Goal, type Network, nearestNames, type Prepare, type RunSpec, toPointer } from '@holdpoint/contract';
import type { CreateRunBody, PointerError } from '@holdpoint/contract/wire';
import { createGuard, EgressError } from '@holdpoint/egress';
import { outputSchemaProblem } from '@holdpoint/tools';
import { checkInputs, WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { PlacedError } from '../../errors/placed-error.ts';
import { checkAgents } from './check-agents.ts';
import { checkGrants } from './check-grants.ts';
import { checkLimits } from './check-limits.ts';
import { checkModel, checkModels } from './check-model.ts';
import { checkPlan } from './check-plan.ts';
import { checkPolicy } from './check-policy.ts';
import { checkSecrets } from './check-secrets.ts';
import { checkSettings } from './check-settings.ts';
import { checkSource } from './check-source.ts';

/**
 * Finds every mistake of a request beyond its shape, before anything is written.
 * @throws ApiProblem `unknown_toolset`, `invalid_settings`, `invalid_policy`, `invalid_permissions`, `invalid_network`, `unknown_secret`,
 * `invalid_secret_use`, `invalid_agents`, `limit_above_ceiling`, `invalid_plan`, `model_not_configured`, `invalid_model_name`; WorkspaceError
 * about the source
 */
export async function checkRequest(
  deps: Pick<ApiDeps, 'catalog' | 'workspaces' | 'models' | 'allowAddresses' | 'ceilings' | 'secrets' | 'holder'>,
  body: Omit<CreateRunBody, 'policy'> & Pick<RunSpec, 'policy' | 'policy_pin'>,
): Promise<Goal> {
  checkToolset(deps, body.toolset);
  checkSettings(deps, body);
  checkPolicy(deps, body.toolset, body);
  checkGrants(body);
  checkNetwork(deps, body.network, ['network', 'allow']);
  if (body.prepare) checkPrepare(deps, body.prepare);
  checkSecrets(deps, body);
  checkLimits(deps, body.limits);
  checkModels(deps, body.models ?? []);
  const task = checkTask(deps, body);
  checkAgents(deps, body, task);
  await checkSource(deps, body.workspace.source);
  return task;
}

function checkPrepare(deps: Pick<ApiDeps, 'allowAddresses'>, { network, inputs = [] }: Prepare): void {
  checkNetwork(deps, network, ['prepare', 'network', 'allow']);
  for (const [index, glob] of inputs.entries()) {
    try {
      checkInputs([glob]);
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      throw new PlacedError(error, [{ pointer: toPointer(['prepare', 'inputs', index]), detail: error.message }]);
    }
  }
}

function checkNetwork({ allowAddresses }: Pick<ApiDeps, 'allowAddresses'>, { allow }: Network, place: string[]): void {
  const errors = allow.flatMap((rule, index): (PointerError & { next: string })[] => {
    try {
      createGuard({ rules: [rule], allowAddresses });
      return [];
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return [{ pointer: toPointer([...place, index]), detail: error.message, next: error.next }];
    }
  });
  const [first] = errors;
  if (first === undefined) return;
  const places = errors.map(({ pointer, detail }) => ({ pointer, detail }));
  throw new ApiProblem('invalid_network', first.detail, { next: first.next, errors: places });
}

function checkToolset({ catalog }: Pick<ApiDeps, 'catalog'>, toolset: string): void {
  const known = catalog.toolsets();
  if (known.includes(toolset)) return;
  const nearest = nearestNames(toolset, known).join(', ');
  const detail = `there is no toolset ${toolset}. Nearest: ${nearest}. All: ${known.join(', ')}`;
  throw new ApiProblem('unknown_toolset', detail, { errors: [{ pointer: '/toolset', detail }] });
}

function checkOutputSchema(schema: Record<string, unknown> | undefined): void {
  const problem = schema && outputSchemaProblem(schema);
  if (problem === undefined) return;
  const detail = `the output_schema ${problem}`;
  throw new ApiProblem('invalid_output_schema', detail, { errors: [{ pointer: '/output_schema', detail: problem }] });
}

function checkTask(deps: Pick<ApiDeps, 'catalog' | 'models'>, body: Omit<CreateRunBody, 'policy'>): Goal {
  const { toolset, plan, prompt, open, model } = body;
  if (open) return { planner: 'open' };
  if (plan === undefined) {
    const { system, instructions, images, fallbacks, options, output_schema } = body;
    checkModels(deps, fallbacks ?? [], '/fallbacks');
    checkOutputSchema(output_schema);
    const asked = { model: checkModel(deps, model), fallbacks, options };
    return { planner: 'model', prompt: prompt ?? '', ...asked, system, instructions, images, output_schema };
  }
  checkPlan(deps, toolset, plan);
  return { planner: 'scripted', plan };
}
