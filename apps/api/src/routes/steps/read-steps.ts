import {
  attemptListSchema,
  idParamsSchema,
  listStepsQuerySchema,
  stepDetailSchema,
  stepPageSchema,
} from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { invalidCursor } from '../../errors/invalid-cursor.ts';
import { checkRunId } from '../runs/find-run.ts';
import { numberSteps } from './number-steps.ts';
import { readStepDetail, toAttempt, toStep } from './step-view.ts';

export function readStepsRoutes(app: App): void {
  app.get(
    '/v1/runs/:id/steps',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'listSteps',
        summary: 'List the steps of a run in the order they were planned',
        params: idParamsSchema,
        querystring: listStepsQuerySchema,
        response: { 200: stepPageSchema },
      },
    },
    async ({ params, query: { limit, cursor }, deps }) => {
      const { run, steps: found } = await deps.engine.runs.steps(checkRunId(params.id));
      const steps = numberSteps(found);
      const start = cursor === undefined ? 0 : steps.findIndex(({ step }) => step.id === cursor) + 1;
      if (cursor !== undefined && start === 0) throw invalidCursor(`the run has no step ${cursor}`);
      const page = steps.slice(start, start + limit);
      const more = start + limit < steps.length;
      const next_cursor = more ? (page.at(-1)?.step.id ?? null) : null;
      const results = await deps.engine.runs.results(
        run,
        page.map(({ step }) => step),
      );
      const data = page.map((step, at) => toStep(run.id, step, results[at] ?? null));
      return { data, next_cursor, has_more: more };
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
    async ({ params, deps }) => {
      const { run, step } = await deps.engine.runs.step(params.id);
      return readStepDetail(deps, run, step);
    },
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
