import { allowedModels, type NewTask, type Problem, type RunSpec } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';

type Deps = Pick<WorkerDeps, 'redis' | 'blobs' | 'defaultModel'>;

/**
 * The default model of a run's tools and sub-agents: the run's model, or the operator's default. A run that lists models uses no other
 * model. The spec of a task names the sub-agent's model, so a later change of the setting changes no run.
 */
export function modelOfRun(
  { defaultModel }: Deps,
  run: Pick<RunState, 'header' | 'model'>,
  { models }: Pick<RunSpec, 'models'>,
) {
  const own = run.model ?? run.header.model;
  if (own !== undefined) return own;
  if (models.length === 0 || (defaultModel !== undefined && models.includes(defaultModel))) return defaultModel;
  return models[0];
}

/** A sub-agent asks only models that its run may use. @returns the error for the planner */
export async function modelRefused(deps: Deps, run: RunState, task: NewTask): Promise<Problem | undefined> {
  if (task.kind !== 'agent' || task.spec.goal.planner !== 'model') return undefined;
  const {
    goal: { model },
    kind,
  } = task.spec;
  // The operator who wrote the kind chose its model.
  if (kind?.origin === 'operator' && kind.model === model) return undefined;
  const spec = await readSpec(deps, run);
  const own = modelOfRun(deps, run, spec);
  const allowed = [...new Set([...allowedModels(spec), ...(own === undefined ? [] : [own])])];
  if (allowed.includes(model)) return undefined;
  return {
    code: 'EMODELNOTALLOWED',
    message: `Not begun: ${model} is none of this run's models. ${allowed.length === 0 ? 'The run has no model.' : `The models of the run: ${allowed.join(', ')}.`}`,
    next: allowed.length === 0 ? 'Give the sub-agent a plan.' : 'Leave the model out, or name a model of the run.',
  };
}
