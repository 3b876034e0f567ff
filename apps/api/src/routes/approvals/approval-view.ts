import { isDeepStrictEqual } from 'node:util';
import { defaultTenant, type Json } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import * as engineApi from '@holdpoint/engine';
import { codeText, cut, plain } from '@holdpoint/readable';
import type { ApiDeps } from '../../deps.ts';
import { planOf } from './publish-plan.ts';
import { cutArgs, readable } from './readable.ts';
import { uncertainFiles } from './uncertain-files.ts';

type Change = NonNullable<Approval['decision']>['changes'][number];

/** Where two JSON values differ, by JSON pointer. Lists of different lengths differ as a whole. */
function changedArgs(asked: Json, ran: Json, pointer = ''): Change[] {
  if (isDeepStrictEqual(asked, ran)) return [];
  if (!isRecord(asked) || !isRecord(ran)) return [{ pointer, asked, ran }];
  return [...new Set([...Object.keys(asked), ...Object.keys(ran)])].flatMap((name): Change[] => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const [before, after] = [asked[name], ran[name]];
    if (before === undefined) return after === undefined ? [] : [{ pointer: at, ran: after }];
    return after === undefined ? [{ pointer: at, asked: before }] : changedArgs(before, after, at);
  });
}

const isRecord = (value: Json): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An approval with the remembered rules about its call. */
export async function toApproval(deps: Deps, view: engineApi.ApprovalView): Promise<Approval> {
  const [approval, remembered] = await Promise.all([toListed(deps, view), rememberedOf(deps, view)]);
  return { ...approval, remembered };
}

async function rememberedOf(
  { engine }: Pick<ApiDeps, 'engine'>,
  view: engineApi.ApprovalView,
): Promise<Approval['remembered']> {
  if (view.subject !== 'step') return null;
  const rules = await engine.approvals.rulesAbout(view);
  return rules.map(({ rule }) => {
    const { scope, by: created_by, made_at: created_at, expires_at } = rule.made;
    return { rule_id: rule.id, decision: engineApi.decisionOf(rule), scope, created_by, created_at, expires_at };
  });
}

type Deps = Pick<ApiDeps, 'engine' | 'workspaces' | 'catalog' | 'logger'>;

/** An approval in the form for a person's decision. */
export async function toListed(deps: Deps, view: engineApi.ApprovalView): Promise<Approval> {
  const { run, approval, digest } = view;
  const { request, decision } = approval;
  const preview = request.preview === undefined ? null : await deps.engine.read(request.preview);
  const action = view.subject === 'step' ? callOf(view) : await publishOf(deps, view);
  const partsCut = view.subject === 'step' ? cutOf(view) : null;
  return {
    id: approval.id,
    run_id: run.id,
    run_title: plain(run.header.title),
    step_id: view.subject === 'step' ? view.step.id : null,
    kind: request.kind,
    status: approval.status,
    ...readable({ action, preview }, partsCut === null),
    display: view.subject === 'step' ? displayOf(deps, view) : null,
    cut: partsCut,
    action_digest: digest,
    risk: request.risk,
    reason: plain(request.reason),
    ...termsOf(deps, view),
    remembered: null,
    allowed_decisions: request.allowed_decisions,
    requested_at: request.requested_at,
    expires_at: request.expires_at,
    ...(await uncertainFiles(deps, view)),
    changed: request.changed ?? null,
    superseded_by: approval.superseded ?? null,
    replaces: request.replaces?.approval_id ?? null,
    preview_request: previewRequestOf(approval),
    decision:
      decision === undefined
        ? null
        : {
            decision: decision.decision,
            args: await editedArgs(deps, view),
            message: decision.message ?? null,
            by: decision.by,
            changes: await changesOf(deps, view),
            votes: (decision.votes ?? []).map(withoutProof),
            made_rule: decision.made_rule ?? null,
            rule_id: decision.rule_id ?? null,
            confirmed: (decision.votes ?? [decision]).every(({ assertion }) => assertion !== undefined),
            expired: decision.expired ?? false,
            decided_at: decision.decided_at,
          },
  };
}

function previewRequestOf({
  previewing,
  preview_failed,
}: engineApi.ApprovalView['approval']): Approval['preview_request'] {
  if (previewing !== undefined) return { status: 'running', by: previewing.by, at: previewing.at, problem: null };
  if (preview_failed === undefined) return null;
  const { reason, at } = preview_failed;
  return { status: 'failed', by: null, at, problem: { ...reason, message: plain(reason.message) } };
}

type Terms = Pick<
  Approval,
  | 'reaches'
  | 'rule'
  | 'deciders'
  | 'edited_by'
  | 'other_policy'
  | 'quorum'
  | 'escalated_to'
  | 'delegations'
  | 'votes'
  | 'on_expiry'
  | 'confirm'
  | 'remembers'
>;

/** The deciders, the deadline, and the rule `remember` would make. */
function termsOf(deps: Pick<ApiDeps, 'catalog'>, view: engineApi.ApprovalView): Terms {
  const { request, escalated = [], delegations = [], votes = [], status } = view.approval;
  const { reaches = null, rule = null, deciders = [], edited_by = [], on_expiry = 'reject', confirm = null } = request;
  const counted = votes.filter(({ action_digest }) => action_digest === view.digest).map(withoutProof);
  const isOpen = status === 'pending' && view.subject === 'step';
  return {
    ...{ reaches, rule, deciders, edited_by, on_expiry, confirm, escalated_to: escalated, delegations },
    votes: counted,
    quorum: quorumOf(deciders, counted),
    other_policy: view.run.forked_from?.other_policy ?? false,
    remembers: isOpen && engineApi.whyNotRemembered(view) === undefined ? proposalOf(deps, view) : null,
  };
}

const withoutProof = <Vote extends { assertion?: unknown }>({ assertion: _, ...vote }: Vote) => vote;

function quorumOf(deciders: Terms['deciders'], votes: Terms['votes']): Terms['quorum'] {
  const needed = Math.max(1, ...deciders.map(({ quorum = 1 }) => quorum));
  return needed === 1 ? null : { approved: votes.length, needed, by: votes.map(({ by }) => by) };
}

function proposalOf(deps: Pick<ApiDeps, 'catalog'>, view: engineApi.StepApproval): Terms['remembers'] {
  const { reaches = null, args, ...proposed } = engineApi.proposedRule(deps, view);
  return {
    ...proposed,
    reaches,
    args: cutArgs(args),
    tenant: view.run.tenant ?? defaultTenant,
    expires_s: engineApi.defaultRuleSeconds,
    needs_external: proposed.effect === 'external',
  };
}

/** The text of the toolset's contract for the decider of a call. */
function displayOf(
  { catalog }: Pick<ApiDeps, 'catalog'>,
  { run, step, args, approval }: engineApi.StepApproval,
): string | null {
  if (approval.request.kind !== 'action') return null;
  const text = catalog.approvalText({ toolset: run.header.toolset, tool: step.call.tool, args });
  return text === null ? null : cut(codeText(text), mostDisplayed);
}

const mostDisplayed = 8000;

function cutOf(view: engineApi.StepApproval): Approval['cut'] {
  const { args, preview } = engineApi.cutParts(view);
  return args === undefined && preview === undefined ? null : { args, preview };
}

/** The changes of an edit. */
async function changesOf(
  deps: Pick<ApiDeps, 'engine'>,
  view: engineApi.ApprovalView,
): Promise<NonNullable<Approval['decision']>['changes']> {
  const edited = await editedArgs(deps, view);
  return view.subject !== 'step' || edited === null ? [] : changedArgs(view.args, edited);
}

/** An edit of a publish resolves its conflicts. */
async function editedArgs(
  deps: Pick<ApiDeps, 'engine'>,
  { subject, approval }: engineApi.ApprovalView,
): Promise<Approval['action']['args']> {
  const { decision } = approval;
  if (decision?.decision !== 'edit' || decision.args === undefined) return null;
  const args = await deps.engine.read(decision.args);
  return subject === 'step' ? args : { resolutions: args };
}

const callOf = ({
  run,
  step,
  args,
  effect,
}: Extract<engineApi.ApprovalView, { subject: 'step' }>): Approval['action'] => ({
  toolset: run.header.toolset,
  tool: step.call.tool,
  args,
  effect,
});

/** A publish is not a tool call, but an approval shows the publish in this form. */
async function publishOf(deps: Pick<ApiDeps, 'engine'>, view: engineApi.PublishApproval): Promise<Approval['action']> {
  return { toolset: 'holdpoint', tool: 'publish', args: await askedOf(deps, view), effect: 'external' };
}

/** The run keeps its last publish request. For an earlier approval, the plan has the request. */
async function askedOf(
  deps: Pick<ApiDeps, 'engine'>,
  { run, approval }: engineApi.PublishApproval,
): Promise<Approval['action']['args']> {
  if (run.publish_approval === approval.id && run.publish_request !== undefined) {
    const { snapshot: _, ...asked } = run.publish_request;
    return asked;
  }
  const target = (await planOf(deps, approval))?.target;
  if (target?.type !== 'git') return {};
  const { branch, message, author } = target;
  return { branch, message, author };
}
