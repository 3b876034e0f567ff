import { type DecidedMany, type DecideMany, decidedManySchema, decideManySchema } from '@holdpoint/contract/wire';
import { EngineError } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';

type Item = NonNullable<DecideMany['items']>[number];
type Result = DecidedMany['data'][number];

/** More approvals than this are decided by several requests. */
const mostItems = 1000;

/** POST /v1/approvals/decisions: each approval is decided alone, with a result of its own. */
export function decideManyRoute(app: App): void {
  app.post(
    '/v1/approvals/decisions',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags: ['approvals'],
        operationId: 'decideApprovals',
        summary: 'Decide on several approvals',
        description:
          'Names the approvals with their digests, or a filter with the digests that were read: what was not read is not decided. ' +
          'The answer has one result per approval; one that is refused does not hold up the others. At most 1,000 per request.',
        body: decideManySchema,
        response: { 200: decidedManySchema },
      },
    },
    async ({ body, deps }) => {
      const { decision, message } = body;
      const data: Result[] = [];
      for (const item of body.items ?? []) data.push(await decideOne(deps, item, { decision, message }));
      if (body.filter === undefined) return { data };
      const seen = new Set(body.seen);
      for (const { id, digest } of await listed(deps, body.filter)) {
        if (!seen.has(digest)) data.push(notSeen(id));
        else data.push(await decideOne(deps, { approval_id: id, action_digest: digest }, { decision, message }));
      }
      return { data };
    },
  );
}

async function listed({ engine, now }: ApiDeps, filter: NonNullable<DecideMany['filter']>) {
  const { older_than_s, ...rest } = filter;
  const before = older_than_s === undefined ? undefined : now() - older_than_s * 1000;
  const { items } = await engine.approvals.list({ ...rest, before }, { limit: mostItems });
  return items.map(({ approval, digest }) => ({ id: approval.id, digest }));
}

const notSeen = (id: string): Result => ({
  approval_id: id,
  status: 'pending',
  problem: {
    code: 'not_seen',
    detail: 'the digest of the approval is not among the digests that were read',
    next: 'Read the approval, and decide on the digest that the approval shows.',
  },
});

async function decideOne(
  { engine }: ApiDeps,
  { approval_id: id, ...seen }: Item,
  request: Pick<DecideMany, 'decision' | 'message'>,
): Promise<Result> {
  try {
    const { approval } = await engine.approvals.decide(id, { ...request, ...seen });
    return { approval_id: id, status: approval.status, problem: null };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const { code, message, next } = error;
    const found = await engine.approvals.get(id).catch(() => undefined);
    return { approval_id: id, status: found?.approval.status ?? null, problem: { code, detail: message, next } };
  }
}
