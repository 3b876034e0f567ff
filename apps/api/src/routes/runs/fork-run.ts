import { type ForkRunBody, forkRunSchema, idParamsSchema, runSchema } from '@holdpoint/contract/wire';
import { cutAtCeilings, type RunState } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { placeEngineError } from '../../errors/to-problem.ts';
import { idempotencyKey } from '../../schema/idempotency-key.ts';
import { checkOtherModel } from './check-model.ts';
import { checkPlan } from './check-plan.ts';
import { checkGrants, checkLimits, checkPolicy } from './check-settings.ts';
import { checkWindow } from './check-window.ts';
import { checkSpace, resolvePolicy } from './create-run.ts';
import { findRun } from './read-runs.ts';
import { toRun } from './run-view.ts';

/** POST /v1/runs/{id}/fork: 201 when this request made the fork, 200 when its Idempotency-Key matches an earlier request. */
export function forkRunRoute(app: App): void {
  app.post(
    '/v1/runs/:id/fork',
    {
      config: { access: 'runs:write', headers: ['idempotency-key'] },
      schema: {
        tags: ['runs'],
        operationId: 'forkRun',
        summary: 'Fork a run: continue from one of its steps as a new run',
        description:
          'The new run has its own workspace, with the files and the conversation as they were after that step. ' +
          'The other run is unchanged. An `Idempotency-Key` header makes it safe to send again.',
        params: idParamsSchema,
        body: forkRunSchema,
        response: { 201: runSchema, 200: runSchema },
      },
    },
    async (request, reply) => {
      const { deps } = request;
      const parent = await findRun(deps, request.params.id);
      const key = idempotencyKey(request);
      const forked = await forkRequest(deps, parent, { body: request.body, key });
      const run = toRun(await findRun(deps, forked.runId));
      reply.header('location', `/v1/runs/${run.id}`);
      return reply.code(forked.created ? 201 : 200).send(run);
    },
  );
}

interface Forking {
  body: ForkRunBody;
  key?: string | undefined;
  /** An id that was chosen before, in the place of an idempotency key. */
  runId?: string;
}

/** Checks a request and makes its fork. */
export async function forkRequest(deps: ApiDeps, parent: RunState, { body, key, runId }: Forking) {
  const { id, header } = parent;
  const idempotency = key === undefined ? undefined : { key, body: { fork_of: id, ...body } };
  const known = idempotency && (await deps.engine.runs.findSubmitted(idempotency));
  if (known !== undefined) return { runId: known, created: false };
  checkSpace(deps);
  const { from_step: fromStep, limits, policy: given, ...others } = body;
  if (limits !== undefined) checkLimits(deps, limits);
  const resolved = given && (await resolvePolicy(deps, given));
  const changes = {
    ...others,
    ...(limits && { limits: cutAtCeilings(limits, deps.ceilings ?? {}) }),
    ...resolved,
  };
  const spec = await deps.engine.runs.spec(parent);
  checkGrants(others, spec);
  // Also checks the inherited policy: the tools may have other names now.
  checkPolicy(deps, header.toolset, resolved ?? spec);
  // The engine refuses a plan for a model run and a model for a scripted run.
  if (changes.plan !== undefined && header.planner === 'scripted') checkPlan(deps, header.toolset, changes.plan);
  if (changes.model !== undefined && spec.goal.planner === 'model') {
    const model = checkOtherModel(deps, spec, changes.model);
    if (spec.goal.outside_agent === undefined) checkWindow(deps, spec, { ...spec.goal, model });
  }
  const places = {
    step_not_found: '/from_step',
    step_not_settled: '/from_step',
    invalid_fork: changes.plan === undefined ? '/model' : '/plan',
  };
  return placeEngineError(places, () => deps.engine.runs.fork(id, { fromStep, changes, idempotency, runId }));
}
