import { approvalContentSchema, idParamsSchema } from '@holdpoint/contract/wire';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { toListed } from './approval-view.ts';
import { jsonText } from './readable.ts';

/** GET /v1/approvals/{id}/content: the whole, however long. */
export function readContentRoute(app: App): void {
  app.get(
    '/v1/approvals/:id/content',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'getApprovalContent',
        summary: 'Read the whole of an approval',
        description:
          'An approval shows at most 32 KiB of its arguments and of its preview. Where they are `cut`, a decision to approve names `content_digest` of this answer.',
        params: idParamsSchema,
        response: { 200: approvalContentSchema },
      },
    },
    async ({ params, deps }) => {
      const view = await deps.engine.approvals.get(params.id);
      const { id } = view.approval;
      const { args, preview, content_digest } =
        view.subject === 'step' ? await deps.engine.approvals.content(view) : await contentOfPublish(deps, params.id);
      return {
        ...{ id, action_digest: view.digest, args, preview, content_digest },
        patch: view.subject === 'step' ? await patchOf(deps, preview) : null,
        readable: { args: jsonText(args), preview: preview === null ? null : jsonText(preview) },
      };
    },
  );
}

/** The approval of a publish is never cut. */
async function contentOfPublish(deps: ApiDeps, id: string) {
  const { action, preview, action_digest } = await toListed(deps, await deps.engine.approvals.get(id));
  return { args: action.args, preview, content_digest: action_digest };
}

const mergeSchema = z.object({ kind: z.literal('merge'), run_id: z.string(), snapshot: z.string() });

/** The preview of a merge has the beginning of the patch. */
async function patchOf(deps: ApiDeps, preview: unknown): Promise<string | null> {
  const merge = mergeSchema.safeParse(preview).data;
  const child = merge && (await deps.engine.runs.find(merge.run_id));
  if (merge === undefined || child?.base === undefined) return null;
  return String(await deps.workspaces.patch({ runId: merge.run_id, from: child.base, to: merge.snapshot }));
}
