import { canonicalJson, evalIdSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { EvalState } from '@holdpoint/engine';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { checkEval } from './check-eval.ts';
import { findEval, toEval } from './read-evals.ts';

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
