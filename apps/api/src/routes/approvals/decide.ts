import { type Conflict, type Json, type Resolution, resolutionSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { challengeOf, EngineError, type PublishApproval, type StepApproval } from '@holdpoint/engine';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { askAssertion, siteOf } from '../../passkeys/ask-assertion.ts';
import { confirmWith } from '../../passkeys/confirm-with.ts';
import { pointerErrors } from '../../schema/validate.ts';
import { withComments } from '../runs/send-message.ts';
import { toApproval } from './approval-view.ts';
import { planOf } from './publish-plan.ts';

const argsSchema = z.strictObject({ resolutions: z.array(resolutionSchema) });

/**
 * Every file in conflict needs exactly one resolution, for the shown version of the source.
 * @throws ApiProblem `invalid_request`, and EngineError `action_changed` for a choice by lines of other versions
 */
async function checkResolutions(
  deps: Pick<ApiDeps, 'engine'>,
  { approval }: PublishApproval,
  args: unknown,
): Promise<void> {
  const parsed = argsSchema.safeParse(args);
  if (!parsed.success) throw refusal(pointerErrors(parsed.error.issues, true));
  const { conflicts = [] } = (await planOf(deps, approval)) ?? {};
  const errors = [
    ...parsed.data.resolutions.flatMap((resolution, at) =>
      errorsOf(resolution, at, parsed.data.resolutions, conflicts),
    ),
    ...conflicts
      .filter(({ path }) => !parsed.data.resolutions.some((resolution) => resolution.path === path))
      .map(({ path }) => ({ pointer: '/resolutions', detail: `${path} is not resolved` })),
  ];
  if (errors.length > 0) throw refusal(errors);
  for (const resolution of parsed.data.resolutions) refuseStale(resolution, conflicts);
}

/** A choice by lines is bound to the three versions. @throws EngineError `action_changed` */
function refuseStale(resolution: Resolution, conflicts: readonly Conflict[]): void {
  const { path } = resolution;
  const merge = conflicts.find((one) => one.path === path)?.merge;
  if (!('digest' in resolution) || resolution.digest === merge?.digest) return;
  throw new EngineError('action_changed', `the versions of ${path} have the digest ${merge?.digest} now`);
}

function errorsOf(
  resolution: Resolution,
  at: number,
  all: readonly Resolution[],
  conflicts: readonly Conflict[],
): wire.PointerError[] {
  const { path, seen } = resolution;
  const conflict = conflicts.find((one) => one.path === path);
  const here = `/resolutions/${at}`;
  if (conflict === undefined) return [{ pointer: `${here}/path`, detail: `there is no conflict at ${path}` }];
  if (all.findIndex((one) => one.path === path) !== at) {
    return [{ pointer: `${here}/path`, detail: `${path} is resolved more than once` }];
  }
  const shown = conflict.versions?.source?.oid ?? null;
  if (seen !== shown) return [{ pointer: `${here}/seen`, detail: `the source's version that was shown is ${shown}` }];
  return 'digest' in resolution ? errorsOfLines(resolution, conflict, here) : [];
}

function errorsOfLines(
  { take, hunks = [] }: Extract<Resolution, { digest: string }>,
  { path, merge }: Conflict,
  here: string,
): wire.PointerError[] {
  if (merge === undefined) {
    return [{ pointer: `${here}/take`, detail: `${path} cannot be merged by lines: take run, source or text` }];
  }
  const chosen = new Set<number>();
  const wrong = hunks.flatMap(({ hunk }, at) => {
    const isTwice = chosen.has(hunk);
    chosen.add(hunk);
    if (hunk <= merge.hunks && !isTwice) return [];
    const detail = isTwice ? `hunk ${hunk} is chosen more than once` : `${path} has ${merge.hunks} conflicting hunks`;
    return [{ pointer: `${here}/hunks/${at}/hunk`, detail }];
  });
  if (take !== 'hunks' || wrong.length > 0 || hunks.length === merge.hunks) return wrong;
  return [{ pointer: `${here}/hunks`, detail: `${path} has ${merge.hunks} conflicting hunks: choose for each` }];
}

function refusal(errors: readonly wire.PointerError[]): ApiProblem {
  const placed = errors.map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  const [first] = placed;
  return new ApiProblem('invalid_request', `${first?.pointer}: ${first?.detail}`, { errors: placed });
}

/** The length of a message with its comments. */
const mostCharacters = 100_000;

/** POST /v1/approvals/{id}/decision: the first decision wins, and binds to its call. */
export function decideRoute(app: App): void {
  app.post(
    '/v1/approvals/:id/decision',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags: ['approvals'],
        operationId: 'decideApproval',
        summary: 'Decide on an approval',
        description:
          'A repeated decision gets the answer of the first; a different one is 409 `already_decided`. ' +
          'An outdated digest is 409 `action_changed`. When a background command changes the files after the decision, ' +
          'the call does not run: it is parked again, and this approval names the new one (`superseded_by`). ' +
          'Where several callers have to approve, the approval stays `pending` until the last of them did; one rejection decides. ' +
          'A caller that `deciders` does not name gets 403 `not_a_decider`. ' +
          'With `remember` later calls are decided in the same way; `remembered` of the answer has every rule about the call, so a rule that says the opposite is seen. ' +
          'Where `confirm` is `passkey`, a decision that releases the call has an `assertion` (POST …/challenge); without it 403 `passkey_required`. ' +
          'An approval that is `cut` is approved with the `content_digest` of its content; otherwise 409 `not_opened`.',
        params: wire.idParamsSchema,
        body: wire.decideSchema,
        response: { 200: wire.approvalSchema },
      },
    },
    async ({ params, body, deps }) => {
      await checkEdit(deps, params.id, body);
      const confirm = body.assertion && confirmWith(deps, body.assertion);
      return toApproval(deps, await deps.engine.approvals.decide(params.id, { ...requestOf(deps, body), confirm }));
    },
  );
}

/** @throws ApiProblem `missing_scope` */
function requestOf(deps: ApiDeps, body: wire.ChallengeDecision) {
  const { decision, action_digest, args, content_digest, on_invalid } = body;
  const message = withComments(body.message, body.comments, { most: mostCharacters });
  return {
    ...{ decision, action_digest, args, message, content_digest },
    settlesInvalid: on_invalid === 'reject',
    remember: rememberOf(deps, body),
  };
}

function rememberOf({ holder }: ApiDeps, { remember = 'none', remember_s, remember_external }: wire.ChallengeDecision) {
  if (remember === 'none') return undefined;
  if (remember === 'policy' && !holder.scopes.includes('policies:write')) {
    const { name } = holder.caller;
    throw new ApiProblem(
      'missing_scope',
      `a rule for all runs of the tenant needs the scope policies:write, which the key of ${name} lacks`,
    );
  }
  return { scope: remember, expires_s: remember_s, external: remember_external };
}

type Deps = Pick<ApiDeps, 'engine'>;

/** The engine refuses wrong arguments too; this check also names the place of each in the body. @throws ApiProblem `invalid_request` */
export async function checkEdit(
  deps: Deps,
  id: string,
  { decision, action_digest, args, on_invalid }: wire.ChallengeDecision,
): Promise<void> {
  if (decision !== 'edit' || args === undefined) return;
  const view = await deps.engine.approvals.get(id);
  const { approval, digest } = view;
  // The engine's own refusals come first: decided already, changed, or no edit allowed.
  if (approval.status !== 'pending' || digest !== action_digest) return;
  if (!approval.request.allowed_decisions.includes('edit')) return;
  if (view.subject === 'step') {
    if (on_invalid !== 'reject') await checkArguments(deps, view, args);
  } else await checkResolutions(deps, view, args);
}

async function checkArguments(deps: Deps, view: StepApproval, args: Json): Promise<void> {
  const described = await deps.engine.approvals.describeEdit(view, args);
  if (described.ok) return;
  const errors = (described.issues ?? []).map(({ pointer, detail }) => ({ pointer: `/args${pointer}`, detail }));
  throw new ApiProblem('invalid_request', described.error.message, { errors });
}

/** POST /v1/approvals/{id}/challenge: what a passkey has to sign for a decision. */
export function challengeRoute(app: App): void {
  app.post(
    '/v1/approvals/:id/challenge',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags: ['approvals'],
        operationId: 'challengeDecision',
        summary: 'Ask for the challenge of a decision by passkey',
        description:
          'Takes the decision as it will be sent, and checks it as if it were sent. The challenge is a hash of the approval, the digest, the decision, edited arguments, the message, the caller and a nonce. ' +
          'It is signed once, within five minutes, by a passkey of the caller for this server (`navigator.credentials.get`); the decision has the answer as its `assertion`. ' +
          'Needs the header Origin of a page of this server. A page at an address in place of a name is 409 `passkey_address`; a person without a passkey 409 `no_passkey`.',
        params: wire.idParamsSchema,
        body: wire.challengeDecisionSchema,
        response: { 200: wire.assertionOptionsSchema },
      },
    },
    async (request) => {
      const { params, body, deps } = request;
      await checkEdit(deps, params.id, body);
      const decision = await deps.engine.approvals.toConfirm(params.id, requestOf(deps, body));
      const site = siteOf(deps, request);
      return askAssertion(deps, site, { use: 'decision', challenge: (signed) => challengeOf(decision, signed) });
    },
  );
}
