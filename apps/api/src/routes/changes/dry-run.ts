import { isUnstorable } from '@holdpoint/contract';
import { dryRunSchema, idParamsSchema, publishPreviewSchema } from '@holdpoint/contract/wire';
import { holdsPublish } from '@holdpoint/engine';
import type { App } from '../../deps.ts';
import { findRun } from '../runs/find-run.ts';
import { assertSucceeded, checkTarget, previewPublish } from './check-publish.ts';
import { resolvePullRequest } from './pull-request.ts';

/** POST /v1/runs/{id}/publish/dry-run: previews a publish. */
export function dryRunRoute(app: App): void {
  app.post(
    '/v1/runs/:id/publish/dry-run',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['changes'],
        operationId: 'previewPublish',
        summary: 'See what a publish would do',
        description:
          'Every file that would change at the source, what is left out, and every conflict with its three versions. Changes nothing. 503 `source_busy`: an interrupted publish of this run must finish first.',
        params: idParamsSchema,
        body: dryRunSchema.nullish(),
        response: { 200: publishPreviewSchema },
      },
    },
    async ({ params, body, deps }) => {
      const run = await findRun(deps, params.id);
      const options = body ?? {};
      assertSucceeded(run);
      const spec = await deps.engine.runs.spec(run);
      await checkTarget(deps, run, options);
      const plan = await previewPublish(deps, run, options, await resolvePullRequest(deps, run, options));
      return {
        run_id: run.id,
        ...plan,
        validators: spec.validators.map(({ command }) => command),
        needs_approval: holdsPublish(spec, deps.operatorPolicy?.()) !== undefined || plan.left_out.some(isUnstorable),
      };
    },
  );
}
