import { type EvalOriginal, isTerminal, type RunSpec } from '@holdpoint/contract';
import type { PutEvalBody } from '@holdpoint/contract/wire';
import { EngineError, type RunState } from '@holdpoint/engine';
import { describeModel } from '@holdpoint/models';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem, PlacedError } from '../../errors/to-problem.ts';
import { checkModels } from '../runs/check-model.ts';
import { findRun } from '../runs/read-runs.ts';
import { figuresOf } from './read-evals.ts';

/**
 * Finds the mistakes that an evaluation would show only when it repeats a run.
 * @returns its marked runs, as they are now
 * @throws ApiProblem `missing_scope`, `invalid_eval`, or about a model
 */
export async function checkEval(deps: ApiDeps, { models, budget, runs }: PutEvalBody): Promise<EvalOriginal[]> {
  if (!deps.holder.scopes.includes('runs:write'))
    throw new ApiProblem('missing_scope', 'your key has no scope runs:write, which submits the repeats');
  const originals: EvalOriginal[] = [];
  for (const [at, id] of runs.entries()) originals.push(await originalOf(deps, id, `/runs/${at}`));
  checkModels(deps, models);
  if (budget.max_cost_usd !== undefined) {
    for (const [at, model] of models.entries()) {
      if (describeModel(model, deps.models.known ?? {}).prices !== undefined) continue;
      const detail = `the price of ${model} is not known, so its cost cannot be bounded: name its prices in HOLDPOINT_MODELS, or give budget.max_steps alone`;
      throw invalid(`/models/${at}`, detail);
    }
  }
  return originals;
}

async function originalOf(deps: ApiDeps, id: string, pointer: string): Promise<EvalOriginal> {
  const run = await findRun(deps, id).catch((error: unknown) => {
    if (!(error instanceof EngineError)) throw error;
    throw new PlacedError(error, [{ pointer, detail: error.message }]);
  });
  const why = whyNotRepeated(run, await deps.engine.runs.spec(run));
  if (why !== undefined || run.mark === undefined) throw invalid(pointer, why ?? '');
  const { mark, note } = run.mark;
  return {
    ...{ run_id: run.id, title: run.header.title, status: run.status, model: run.model ?? run.header.model ?? null },
    ...{ mark, ...(note !== undefined && { note }), ...(await figuresOf(deps.engine, run)) },
  };
}

function whyNotRepeated(run: RunState, { goal, toolset }: RunSpec): string | undefined {
  if (run.mark === undefined)
    return `${run.id} is not marked: holdpoint runs mark ${run.id} good, or bad, once it has ended`;
  if (!isTerminal(run.status)) return `${run.id} has been resumed and has not ended`;
  if (goal.planner !== 'model') return `${run.id} has no prompt, so no other model can repeat it`;
  if (goal.outside_agent !== undefined) return `${run.id} is worked on by the agent ${goal.outside_agent}`;
  if (toolset === 'sage') return `${run.id} has the toolset sage, which changes no file in a repeat`;
  if (run.parent !== undefined) return `${run.id} is a sub-agent: mark the run that it works for`;
  if (run.base === undefined) return `${run.id} never had its files`;
  if (run.publication === 'discarding' || run.publication === 'discarded')
    return `the workspace of ${run.id} was discarded`;
  return undefined;
}

const invalid = (pointer: string, detail: string): ApiProblem =>
  new ApiProblem('invalid_eval', detail, { errors: [{ pointer, detail }] });
