import { allowedModels, type Goal, nearestNames, toPointer } from '@holdpoint/contract';
import type { CreateRunBody, PointerError } from '@holdpoint/contract/wire';
import { grantProblems } from '@holdpoint/policy';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/**
 * The kinds of sub-agents of a request, at `/agents`: without this check a mistake would appear only when a model begins a sub-agent.
 * @throws ApiProblem `invalid_agents`
 */
export function checkAgents(
  { catalog, models: { defaultModel } }: Pick<ApiDeps, 'catalog' | 'models'>,
  { agents = [], models = [], toolset }: Pick<CreateRunBody, 'agents' | 'models' | 'toolset'>,
  goal: Goal,
): void {
  if (agents.length === 0) return;
  const at = (...path: (string | number)[]) => toPointer(['agents', ...path]);
  if (catalog.kindTool(toolset) === undefined) {
    refuse([{ pointer: at(), detail: `the toolset ${toolset} has no tool that begins kinds of sub-agents` }]);
  }
  const tools = Object.keys(catalog.versions(toolset));
  const allowed = allowedModels({ goal, models });
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
              detail: `there is no tool ${tool}. Nearest: ${nearestNames(tool, tools).join(', ')}`,
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
