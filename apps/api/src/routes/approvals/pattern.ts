import { isDeepStrictEqual } from 'node:util';
import * as wire from '@holdpoint/contract/wire';
import type { Engine, StepApproval } from '@holdpoint/engine';
import type { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { checkDocument, showProposal, showReplay } from '../policies/try-policies.ts';

const tags = ['approvals'];
const dayMs = 24 * 3600 * 1000;

/** A decision for many calls: rules for calls like a decided one, shown with all that they would have changed before a person confirms. */
export function patternRoutes(app: App): void {
  app.get(
    '/v1/approvals/:id/pattern',
    {
      // The replay in the answer shows calls of runs.
      config: { access: 'runs:read' },
      schema: {
        tags,
        operationId: 'getApprovalPattern',
        summary: 'Find rules for calls like a decided one',
        description:
          'As `POST /v1/policies/propose` finds them, for the call of this approval, with a replay of the changed policy on past calls. Nothing is changed.',
        params: wire.idParamsSchema,
        querystring: wire.patternQuerySchema,
        response: { 200: wire.patternSchema },
      },
    },
    async ({ params, query, deps }) => {
      const since = new Date(query.since ?? deps.now() - 30 * dayMs).toISOString();
      return toPattern(deps, await stepOf(deps, params.id), { since, least: query.least });
    },
  );

  app.post(
    '/v1/approvals/:id/pattern',
    {
      config: { access: 'policies:write' },
      schema: {
        tags,
        operationId: 'confirmApprovalPattern',
        summary: 'Put the shown rules into the policy of the run',
        description:
          'Makes the next version of the policy, or a new policy under `name`: later runs that name it have the rules. Exactly what was shown: when the rules or the policy are others by now, 409 `pattern_changed` has both.',
        params: wire.idParamsSchema,
        body: wire.confirmPatternSchema,
        response: { 200: wire.storedVersionSchema },
      },
    },
    async ({ params, body, deps }) => {
      const view = await stepOf(deps, params.id);
      const { policy, found } = await deps.engine.policies.pattern(view, { since: body.since, least: body.least });
      if ('whyNot' in found) throw changed(body, found.whyNot);
      const { proposal, digest } = found;
      if (digest !== body.digest || !isDeepStrictEqual(proposal.rules, body.rules)) {
        const where = policy === undefined ? '' : ` for version ${policy.version} of ${policy.name}`;
        throw changed(body, `${JSON.stringify(proposal.rules)}${where}, with the digest ${digest}`);
      }
      const name = nameOf(policy, body.name);
      const document = checkDocument(deps, found.document, { name });
      return (await deps.engine.policies.put(name, document, { ifVersion: policy?.version ?? 0 })).policy;
    },
  );
}

/** @throws ApiProblem `pattern_changed` */
function changed({ rules, digest }: z.output<typeof wire.confirmPatternSchema>, now: string): ApiProblem {
  return new ApiProblem('pattern_changed', 'the pattern is another one by now, so nothing was changed', {
    errors: [
      { pointer: '/rules', detail: `shown: ${JSON.stringify(rules)}, with the digest ${digest}` },
      { pointer: '', detail: `now: ${now}` },
    ],
  });
}

/** @throws ApiProblem `invalid_request` */
function nameOf(policy: { name: string } | undefined, given: string | undefined): string {
  const name = policy?.name ?? given;
  const detail =
    name === undefined
      ? 'the run has no policy with a name: give the name of a new one'
      : given === undefined || given === name
        ? undefined
        : `the rules go into the policy ${name} of the run: leave the name out`;
  if (name !== undefined && detail === undefined) return name;
  throw new ApiProblem('invalid_request', detail ?? '', { errors: [{ pointer: '/name', detail: detail ?? '' }] });
}

/** @throws ApiProblem `no_pattern` */
async function stepOf({ engine }: Pick<ApiDeps, 'engine'>, id: string): Promise<StepApproval> {
  const view = await engine.approvals.get(id);
  if (view.subject === 'step') return view;
  throw new ApiProblem('no_pattern', 'the approval is about a publish, and no two are alike');
}

async function toPattern(
  deps: Pick<ApiDeps, 'engine' | 'catalog'>,
  view: StepApproval,
  period: { since: string; least: number },
): Promise<wire.ApprovalPattern> {
  const { policy, found } = await deps.engine.policies.pattern(view, period);
  const about = { approval_id: view.approval.id, ...period, policy: policy ?? null };
  if ('whyNot' in found) return { ...about, proposal: null, why_not: found.whyNot, replay: null };
  const { proposal, digest } = found;
  const replay = await replayOf(deps, period, { policy, document: found.document });
  return { ...about, proposal: { ...showProposal(proposal), digest }, why_not: null, replay };
}

type Found = Awaited<ReturnType<Engine['policies']['pattern']>>;

/** Runs with the policy alone; for a new policy every run. */
async function replayOf(
  deps: Pick<ApiDeps, 'engine' | 'catalog'>,
  { since }: { since: string },
  { policy, document }: Pick<Found, 'policy'> & { document: unknown },
): Promise<wire.ApprovalPattern['replay']> {
  const name = policy?.name ?? 'run';
  const checked = checkDocument(deps, document, { name });
  const candidate = { document: checked, name, insteadOf: policy?.name };
  const page = await deps.engine.policies.replay(candidate, { since });
  const { next_cursor, ...shown } = showReplay(page);
  return { ...shown, damaged: page.damaged.length, complete: next_cursor === null };
}
