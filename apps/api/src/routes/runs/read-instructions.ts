import { idParamsSchema, instructionsSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { findRun } from './read-runs.ts';

/** GET /v1/runs/{id}/instructions: the recorded text, so every request of the run begins with it. */
export function readInstructionsRoute(app: App): void {
  app.get(
    '/v1/runs/:id/instructions',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['runs'],
        operationId: 'readInstructions',
        summary: 'Read the instructions of the model of a run',
        description: 'The text is written once, before the first turn. Secrets are redacted.',
        params: idParamsSchema,
        response: { 200: instructionsSchema },
      },
    },
    async ({ params, deps }) => {
      const { id: run_id } = await findRun(deps, params.id);
      const recorded = await deps.engine.runs.instructions(run_id);
      if (recorded === undefined) return { run_id, system: null, files: [], agents: [], environment: {} };
      const { system, files, agents = [], environment } = recorded;
      return { run_id, system, files, agents, environment };
    },
  );
}
