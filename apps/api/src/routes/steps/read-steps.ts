import type { Json, Payload } from '@holdpoint/contract';
import {
  attemptListSchema,
  idParamsSchema,
  listStepsQuerySchema,
  stepDetailSchema,
  stepPageSchema,
  stepSummaryPageSchema,
} from '@holdpoint/contract/wire';
import { Damaged, type StepState, type StepsQuery } from '@holdpoint/engine';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { invalidCursor } from '../../errors/invalid-cursor.ts';
import { placeEngineError } from '../../errors/place-engine-error.ts';
import { PlacedError } from '../../errors/placed-error.ts';
import { showDamaged } from '../../errors/show-damaged.ts';
import { checkRunId } from '../runs/find-run.ts';
import { toSummary } from './step-summary.ts';
import { showStep, toAttempt, toStep } from './step-view.ts';

export function readStepsRoutes(app: App): void {
  app.get(
    '/v1/runs/:id/steps',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'listSteps',
        summary: 'List the steps of a run',
        description:
          'A page reads what it shows, however long the run is. A page with a filter looks at 1,000 steps at most: it can have fewer steps ' +
          'than its limit, or none, and still have a `next_cursor`.',
        params: idParamsSchema,
        querystring: listStepsQuerySchema,
        response: { 200: z.union([stepPageSchema, stepSummaryPageSchema]) },
      },
    },
    async ({ params, query: { view, ...query }, deps }) => {
      const { run, steps, damaged, next } = await readPage(deps, checkRunId(params.id), query);
      const page = { next_cursor: next ?? null, has_more: next !== undefined };
      if (view === 'summary') return { data: steps.map(toSummary), ...page, ...showDamaged(deps, damaged) };
      const results = await deps.engine.runs.results(
        run,
        steps.map(({ step }) => step),
      );
      const unread = results.filter((result) => result instanceof Damaged);
      const data = steps.map((one, at) => toStep(run.id, one, shownResult(one.step, results[at])));
      return { data, ...page, ...showDamaged(deps, [...damaged, ...unread]) };
    },
  );

  app.get(
    '/v1/steps/:id',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'getStep',
        summary: 'Read a step, with its arguments and its result',
        params: idParamsSchema,
        response: { 200: stepDetailSchema },
      },
    },
    async ({ params, deps }) => showStep(deps, params.id),
  );

  app.get(
    '/v1/steps/:id/attempts',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'listAttempts',
        summary: 'List the attempts at a step, with what the sandbox enforced',
        params: idParamsSchema,
        response: { 200: attemptListSchema },
      },
    },
    async ({ params, deps }) => {
      const { run, step } = await deps.engine.runs.step(params.id);
      const attempts = await deps.engine.runs.attempts(run.id, step.id);
      return { data: attempts.map(toAttempt) };
    },
  );
}

/** An unreadable result is shown as far as the state has the content. */
const shownResult = (
  { outcome }: StepState,
  result: Payload<Json> | Damaged | null | undefined,
): Payload<Json> | null => (result instanceof Damaged ? (outcome?.value ?? null) : (result ?? null));

async function readPage({ engine }: Pick<ApiDeps, 'engine'>, runId: string, query: StepsQuery) {
  try {
    return await placeEngineError({ step_not_found: 'from' }, () => engine.runs.stepsPage(runId, query));
  } catch (error) {
    if (query.cursor === undefined || !(error instanceof PlacedError)) throw error;
    throw invalidCursor(error.message);
  }
}
