import { type EvalFigures, evalIdSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { EvalState, OpenEngine, RunState, StoredEval } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, showEach } from '../../errors/to-problem.ts';
import { toRun } from '../runs/run-view.ts';

export function toEval(state: EvalState): wire.Eval {
  const { id, name, models, budget, parallel, created_at, created_by, originals, canceled_by, ended_at } = state;
  const under = canceled_by === undefined ? 'running' : 'canceling';
  const over = canceled_by === undefined ? 'finished' : 'canceled';
  const repeats = state.repeats.map(({ allowed: _, ...repeat }) => repeat);
  return {
    ...{ id, name, models, budget, parallel, created_at, created_by, originals, repeats },
    status: ended_at === undefined ? under : over,
    spent: { cost_usd: sum(repeats, 'cost_usd'), steps: sum(repeats, 'steps') },
    ...{ ended_at: ended_at ?? null, canceled_by: canceled_by ?? null },
  };
}

const sum = (repeats: readonly EvalFigures[], of: 'cost_usd' | 'steps'): number =>
  repeats.reduce((all, one) => all + one[of], 0);

/** @throws ApiProblem `eval_not_found` */
export async function findEval({ evals, holder }: Pick<ApiDeps, 'evals' | 'holder'>, id: string): Promise<StoredEval> {
  // Ids become parts of keys: an id of another form is not even looked up.
  const isId = evalIdSchema.safeParse(id).success;
  const found = isId ? await evals.store.find({ tenant: holder.caller.tenant, id }) : undefined;
  if (found === undefined) throw new ApiProblem('eval_not_found', `there is no evaluation ${id.slice(0, 100)}`);
  return found;
}

/** What a run has used, with its sub-agents, and how often it asked. */
export async function figuresOf(engine: ReturnType<OpenEngine['as']>, run: RunState): Promise<EvalFigures> {
  const { usage, turn } = toRun(run);
  const asked = await engine.approvals.ofRun(run.id);
  const holds = asked.filter(({ request }) => request.kind !== 'publish' && request.kind !== 'conflict').length;
  return { cost_usd: usage.cost_usd, steps: usage.steps, turns: turn, holds };
}

const tags = ['evals'];
const config = { access: 'runs:read' } as const;

export function readEvalsRoutes(app: App): void {
  app.get(
    '/v1/evals',
    {
      config,
      schema: {
        tags,
        operationId: 'listEvals',
        summary: 'List evaluations, the newest first',
        description: 'The last 1,000 are kept, and all that have not ended.',
        querystring: wire.listEvalsQuerySchema,
        response: { 200: wire.evalListSchema },
      },
    },
    async ({ query: { limit }, deps }) => {
      const found = await deps.evals.store.list(deps.holder.caller.tenant, limit);
      return showEach(deps, found, { idOf: ({ state }) => state.id, show: async ({ state }) => toEval(state) });
    },
  );

  app.get(
    '/v1/evals/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'getEval',
        summary: 'Read an evaluation: its marked runs and their repeats, side by side',
        params: wire.idParamsSchema,
        response: { 200: wire.evalSchema },
      },
    },
    async ({ params: { id }, deps }) => toEval((await findEval(deps, id)).state),
  );
}
