import * as contract from '@holdpoint/contract';
import type { CreateRunBody, PointerError } from '@holdpoint/contract/wire';
import { createGuard, EgressError } from '@holdpoint/egress';
import { grantProblems } from '@holdpoint/policy';
import { outputSchemaProblem } from '@holdpoint/tools';
import { checkInputs, WorkspaceError, type WorkspaceErrorCode } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem, PlacedError } from '../../errors/to-problem.ts';
import { checkAgentModel, checkModel, checkModels } from './check-model.ts';
import { checkPlan } from './check-plan.ts';
import { checkSecrets } from './check-secrets.ts';
import { checkGrants, checkLimits, checkPlanMode, checkPolicy, checkSettings } from './check-settings.ts';
import { checkWindow } from './check-window.ts';

/**
 * Finds every mistake of a request beyond its shape, before anything is written.
 * @throws ApiProblem `unknown_toolset`, `invalid_settings`, `invalid_policy`, `invalid_permissions`, `invalid_network`, `unknown_secret`,
 * `invalid_secret_use`, `invalid_agents`, `limit_above_ceiling`, `invalid_plan`, `model_not_configured`, `invalid_model_name`, `window_too_small`;
 * WorkspaceError about the source
 */
export async function checkRequest(
  deps: Pick<ApiDeps, 'catalog' | 'workspaces' | 'models' | 'allowAddresses' | 'ceilings' | 'secrets' | 'holder'>,
  body: Omit<CreateRunBody, 'policy'> & Pick<contract.RunSpec, 'policy' | 'policy_pin'>,
): Promise<contract.Goal> {
  checkToolset(deps, body.toolset);
  checkSettings(deps, body);
  checkPolicy(deps, body.toolset, body);
  checkGrants(body);
  checkPlanMode(deps, body.toolset, body.modes);
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

function checkPrepare(deps: Pick<ApiDeps, 'allowAddresses'>, { network, inputs = [] }: contract.Prepare): void {
  checkNetwork(deps, network, ['prepare', 'network', 'allow']);
  for (const [index, glob] of inputs.entries()) {
    try {
      checkInputs([glob]);
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      throw new PlacedError(error, [
        { pointer: contract.toPointer(['prepare', 'inputs', index]), detail: error.message },
      ]);
    }
  }
}

function checkNetwork(
  { allowAddresses }: Pick<ApiDeps, 'allowAddresses'>,
  { allow }: contract.Network,
  place: string[],
): void {
  const errors = allow.flatMap((rule, index): (PointerError & { next: string })[] => {
    try {
      createGuard({ rules: [rule], allowAddresses });
      return [];
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return [{ pointer: contract.toPointer([...place, index]), detail: error.message, next: error.next }];
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
  const nearest = contract.nearestNames(toolset, known).join(', ');
  const detail = `there is no toolset ${toolset}. Nearest: ${nearest}. All: ${known.join(', ')}`;
  throw new ApiProblem('unknown_toolset', detail, { errors: [{ pointer: '/toolset', detail }] });
}

function checkOutputSchema(schema: Record<string, unknown> | undefined): void {
  const problem = schema && outputSchemaProblem(schema);
  if (problem === undefined) return;
  const detail = `the output_schema ${problem}`;
  throw new ApiProblem('invalid_output_schema', detail, { errors: [{ pointer: '/output_schema', detail: problem }] });
}

function checkTask(deps: Pick<ApiDeps, 'catalog' | 'models'>, body: Omit<CreateRunBody, 'policy'>): contract.Goal {
  const { toolset, plan, prompt, open, model } = body;
  if (open) return { planner: 'open' };
  if (plan === undefined) {
    const { outside_agent, system, instructions, context, images, fallbacks, options, output_schema } = body;
    if (outside_agent !== undefined) {
      const asked = { model: checkAgentModel(deps, outside_agent, model), outside_agent, system };
      return { planner: 'model', prompt: prompt ?? '', ...asked };
    }
    checkModels(deps, fallbacks ?? [], '/fallbacks');
    checkOutputSchema(output_schema);
    const asked = { model: checkModel(deps, model), fallbacks, options };
    const told = { system, instructions, context, images, output_schema };
    const goal = { planner: 'model' as const, prompt: prompt ?? '', ...asked, ...told };
    checkWindow(deps, body, goal);
    return goal;
  }
  checkPlan(deps, toolset, plan);
  return { planner: 'scripted', plan };
}

/**
 * The kinds of sub-agents of a request, at `/agents`: without this check a mistake would appear only when a model begins a sub-agent.
 * @throws ApiProblem `invalid_agents`
 */
function checkAgents(
  { catalog, models: { defaultModel } }: Pick<ApiDeps, 'catalog' | 'models'>,
  { agents = [], models = [], toolset }: Pick<CreateRunBody, 'agents' | 'models' | 'toolset'>,
  goal: contract.Goal,
): void {
  if (agents.length === 0) return;
  const at = (...path: (string | number)[]) => contract.toPointer(['agents', ...path]);
  if (catalog.kindTool(toolset) === undefined) {
    refuse([{ pointer: at(), detail: `the toolset ${toolset} has no tool that begins kinds of sub-agents` }]);
  }
  const tools = Object.keys(catalog.versions(toolset));
  const allowed = contract.allowedModels({ goal, models });
  const usable = allowed.length > 0 ? allowed : [defaultModel];
  refuse(
    agents.flatMap(({ model, tools: named = [], permissions, protected: globs }, index): PointerError[] => [
      ...grantProblems({ permissions, protected: globs }).map(({ pointer, detail }) => ({
        pointer: `${at(index)}${pointer}`,
        detail,
      })),
      ...named.flatMap((tool, place) =>
        tools.includes(tool)
          ? []
          : {
              pointer: at(index, 'tools', place),
              detail: `there is no tool ${tool}. Nearest: ${contract.nearestNames(tool, tools).join(', ')}`,
            },
      ),
      ...(model === undefined || usable.includes(model)
        ? []
        : [{ pointer: at(index, 'model'), detail: `${model} is none of the models of the run; list it in models` }]),
    ]),
  );
}

function refuse(errors: readonly PointerError[]): void {
  const [first] = errors;
  if (first !== undefined)
    throw new ApiProblem('invalid_agents', `${first.pointer}: ${first.detail}`, { errors: [...errors] });
}

type Deps = Pick<ApiDeps, 'workspaces'>;

/** The source of a run, at `/workspace/source` of the request. @throws WorkspaceError, with its place */
async function checkSource(deps: Deps, source: contract.Source): Promise<void> {
  try {
    await deps.workspaces.check(source);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    const pointer = contract.toPointer(['workspace', 'source', ...(await placeOf(deps, source, error.code))]);
    throw new PlacedError(error, [{ pointer, detail: error.message }]);
  }
}

async function placeOf(deps: Deps, source: contract.Source, code: WorkspaceErrorCode): Promise<(string | number)[]> {
  if (code === 'EREFUNKNOWN') return ['ref'];
  if (code === 'EGLOBINVALID' && source.type !== 'empty') return findGlob(deps, source);
  if (code === 'ESOURCEFOLDER') return findFolder(deps, source);
  return [contract.isRemote(source) ? 'url' : 'path'];
}

/** The first folder of `with` refused even alone. */
async function findFolder({ workspaces }: Deps, source: contract.Source): Promise<(string | number)[]> {
  for (const [index, folder] of contract.sourceFoldersOf(source).entries()) {
    const alone = { ...source, with: [folder] } as contract.Source;
    const refused = await workspaces.check(alone).then(
      () => false,
      (error: unknown) => error instanceof WorkspaceError && error.code === 'ESOURCEFOLDER',
    );
    if (refused) return ['with', index];
  }
  return ['with'];
}

/** The first glob refused even alone. */
async function findGlob(
  { workspaces }: Deps,
  source: Exclude<contract.Source, { type: 'empty' }>,
): Promise<(string | number)[]> {
  const { include = [], exclude = [] } = source;
  for (const [field, globs] of Object.entries({ include, exclude })) {
    for (const [index, glob] of globs.entries()) {
      const refused = await workspaces.check({ ...source, include: [glob], exclude: [] }).then(
        () => false,
        (error: unknown) => error instanceof WorkspaceError && error.code === 'EGLOBINVALID',
      );
      if (refused) return [field, index];
    }
  }
  return [];
}
