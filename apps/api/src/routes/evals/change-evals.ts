import { canonicalJson, type EvalOriginal, evalIdSchema, isTerminal, type RunSpec } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { EngineError, type EvalState, type RunState } from '@holdpoint/engine';
import { describeModel } from '@holdpoint/models';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem, PlacedError } from '../../errors/to-problem.ts';
import { checkModels } from '../runs/check-model.ts';
import { findRun } from '../runs/read-runs.ts';
import { figuresOf, findEval, toEval } from './read-evals.ts';

/**
 * Finds the mistakes that an evaluation would show only when it repeats a run.
 * @returns its marked runs, as they are now
 * @throws ApiProblem `missing_scope`, `invalid_eval`, or about a model
 */
async function checkEval(deps: ApiDeps, { models, budget, runs }: wire.PutEvalBody): Promise<EvalOriginal[]> {
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

const tags = ['evals'];
const config = { access: 'evals:write' } as const;
const params = wire.idParamsSchema;

export function changeEvalsRoutes(app: App): void {
  app.put(
    '/v1/evals/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'putEval',
        summary: 'Begin an evaluation: repeat marked runs with other models',
        description:
          'The caller chooses the id (eval_ and a UUIDv7), so the request is safe to send again. Each run is repeated with each model, on a fork from ' +
          'before its first step, in dry run: no external effect is made, and nothing is published. 200 when this very evaluation was begun before.',
        params,
        body: wire.putEvalSchema,
        response: { 201: wire.evalSchema, 200: wire.evalSchema },
      },
    },
    async ({ params: { id }, body, deps }, reply) => {
      const { state, created } = await begin(deps, id, body);
      reply.header('location', `/v1/evals/${id}`);
      return reply.code(created ? 201 : 200).send(toEval(state));
    },
  );

  app.post(
    '/v1/evals/:id/cancel',
    {
      config,
      schema: {
        tags,
        operationId: 'cancelEval',
        summary: 'Cancel an evaluation',
        description: 'Its repeats are canceled, and those that have not begun are skipped. What is done stays.',
        params,
        response: { 200: wire.evalSchema },
      },
    },
    async ({ params: { id }, deps }) => toEval(await cancel(deps, id)),
  );
}

async function begin(deps: ApiDeps, id: string, body: wire.PutEvalBody) {
  const { tenant } = deps.holder.caller;
  const { error } = evalIdSchema.safeParse(id);
  if (error !== undefined) {
    const detail = error.issues[0]?.message ?? 'not valid';
    throw new ApiProblem('invalid_eval', `the id is not valid: ${detail}`, { errors: [{ pointer: '/id', detail }] });
  }
  const found = await deps.evals.store.find({ tenant, id });
  if (found !== undefined) return { state: sameAs(found.state, body), created: false };
  const state = newState(deps, id, { body, originals: await checkEval(deps, body) });
  const stored = await deps.evals.store.put({ after: undefined, state, wakeAt: deps.now() });
  if (stored === 'changed') return begin(deps, id, body);
  const { name, models, budget } = state;
  await recordChange(deps, { subject: `eval/${id}`, action: 'begun', detail: { name, models, budget } });
  await deps.evals.wake({ tenant, id }).catch((err: unknown) => {
    deps.logger.warn({ err, eval_id: id }, 'the wake-up was not sent; the sweep will');
  });
  return { state, created: true };
}

interface Checked {
  body: wire.PutEvalBody;
  originals: EvalState['originals'];
}

function newState({ holder, now }: ApiDeps, id: string, { body, originals }: Checked): EvalState {
  const { runs, ...set } = body;
  const unused = { cost_usd: 0, steps: 0, turns: 0, holds: 0 };
  return {
    ...{ id, tenant: holder.caller.tenant, ...set, originals },
    ...{ created_at: new Date(now()).toISOString(), created_by: holder.caller.name, key_id: holder.keyId },
    repeats: runs.flatMap((of) => set.models.map((model) => ({ of, model, status: 'waiting' as const, ...unused }))),
  };
}

/** @throws ApiProblem `eval_changed` */
function sameAs(state: EvalState, { runs, ...set }: wire.PutEvalBody): EvalState {
  const { name, models, budget, parallel, validators, originals } = state;
  const before = { name, models, budget, parallel, validators, runs: originals.map(({ run_id }) => run_id) };
  if (canonicalJson(plain(before)) === canonicalJson(plain({ ...set, runs }))) return state;
  throw new ApiProblem('eval_changed', `${state.id} was begun with another set, budget or models`);
}

const plain = (value: object) => JSON.parse(JSON.stringify(value));

async function cancel(deps: ApiDeps, id: string): Promise<EvalState> {
  for (;;) {
    const { state, revision } = await findEval(deps, id);
    if (state.canceled_by !== undefined || state.ended_at !== undefined) return state;
    const canceled = { ...state, canceled_by: deps.holder.caller.name };
    if ((await deps.evals.store.put({ after: revision, state: canceled, wakeAt: deps.now() })) !== 'stored') continue;
    await recordChange(deps, { subject: `eval/${id}`, action: 'canceled', detail: { name: state.name } });
    await deps.evals.wake(state).catch((err: unknown) => {
      deps.logger.warn({ err, eval_id: id }, 'the wake-up was not sent; the sweep will');
    });
    return canceled;
  }
}
