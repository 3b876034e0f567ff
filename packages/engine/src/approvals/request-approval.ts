import { createHash } from 'node:crypto';
import * as contract from '@holdpoint/contract';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import type { JobEnd } from '../jobs/index.ts';
import * as runLog from '../log/index.ts';
import { hasDecision } from './judge-step.ts';

interface NewApproval {
  approvalId: string;
  expiresAt: string;
}

/** Returns the id and the deadline of one approval. `answered`: the same append decides the approval, and no inbox has the approval. */
export type Open = (
  terms?: Pick<contract.ApprovalTerms, 'expires_s' | 'remind_after_s' | 'escalate'>,
  state?: 'asked' | 'answered',
) => Promise<NewApproval>;

/**
 * Appends a transition that asks a person. A new approval is in the index before the log names it, and leaves the index when the append
 * is refused.
 * @param build makes the transition; each call of `open` gives the id and the deadline of one approval
 * @returns whether the transition was appended
 */
export async function requestApproval(
  deps: WorkerDeps,
  run: domain.RunState,
  build: (open: Open) => Promise<domain.Transition>,
): Promise<boolean> {
  const { policy } = await runLog.readSpec(deps, run);
  const opened: string[] = [];
  const answered: string[] = [];
  const built = await build(
    async ({ expires_s: seconds = policy.approval_timeout_s, ...terms } = {}, state = 'asked') => {
      const approvalId = deps.newId('approval');
      const now = deps.now();
      if (state === 'answered') {
        await runLog.trackApproval(deps.redis, approvalId, run.id);
        answered.push(approvalId);
      } else {
        await runLog.trackApproval(deps.redis, approvalId, run.id, domain.nextNotice(terms, { asked: now }));
        opened.push(approvalId);
      }
      return { approvalId, expiresAt: new Date(now + seconds * 1000).toISOString() };
    },
  );
  const transition = await withHiddenFiles(deps, run, { transition: built, opened });
  await listByFacets(deps, run, { events: transition.events, opened });
  const { ok } = await runLog.append(deps, run.id, transition);
  const { redis } = deps;
  if (!ok)
    await Promise.all(
      [...opened, ...answered].map((id) => runLog.unlistAsked(redis, run.tenant ?? contract.defaultTenant, id)),
    );
  await Promise.all([...(ok ? [] : opened), ...answered].map((id) => runLog.untrackApproval(redis, id)));
  return ok;
}

async function listByFacets(
  { redis }: EngineDeps,
  run: domain.RunState,
  { events, opened }: Pick<domain.Transition, 'events'> & { opened: readonly string[] },
): Promise<void> {
  for (const event of events) {
    if (event.type !== 'approval.requested') continue;
    const { approval_id: id, rule, expires_at, risk } = event.data;
    const [step] = event.step_id === undefined ? [] : await runLog.readSteps(redis, run.id, [event.step_id]);
    const about = { run: run.id, tool: step?.call.tool, rule: rule?.name, labels: run.header.labels };
    const tenant = run.tenant ?? contract.defaultTenant;
    const facets = { ...about, expiresAt: Date.parse(expires_at), risk };
    await runLog.listAsked(redis, tenant, { id, facets });
    if (opened.includes(id)) await runLog.listFacets(redis, tenant, { id, facets });
  }
}

/** The approval of a parked step or publication while it is pending. */
export async function pendingApproval(
  { redis }: Pick<EngineDeps, 'redis'>,
  run: domain.RunState,
  id: string | undefined,
): Promise<(domain.ApprovalState & { expiresAt: number }) | undefined> {
  const approval = id === undefined ? undefined : await runLog.readApproval(redis, run.id, id);
  if (approval?.status !== 'pending') return undefined;
  return { ...approval, expiresAt: Date.parse(approval.request.expires_at) };
}

type Files = NonNullable<contract.EventOf<'approval.requested'>['data']['files']>;

/**
 * Records with each question about a call the files that a person cannot see, so that no reader of a list has to open the workspace. For an
 * unreadable workspace nothing is recorded: the API then reads the workspace and reports the problem.
 * @param asked.opened ids of the approvals that wait for a person
 */
async function withHiddenFiles(
  deps: WorkerDeps,
  run: domain.RunState,
  { transition, opened }: { transition: domain.Transition; opened: readonly string[] },
): Promise<domain.Transition> {
  const seen = new Map<string, Files | undefined>();
  const events: contract.NewEvent[] = [];
  for (const event of transition.events) {
    const isAsked = event.type === 'approval.requested' && opened.includes(event.data.approval_id);
    if (!isAsked || event.step_id === undefined) {
      events.push(event);
      continue;
    }
    const { snapshot } = event.data;
    if (!seen.has(snapshot)) seen.set(snapshot, await filesAt(deps, run, snapshot));
    events.push({ ...event, data: { ...event.data, files: seen.get(snapshot) } });
  }
  return { ...transition, events };
}

async function filesAt(deps: WorkerDeps, { id: runId, base: since }: domain.RunState, snapshot: string) {
  if (since === undefined || snapshot === '') return undefined;
  try {
    const hidden = await deps.workspaces.hiddenFiles({ runId, since, snapshot });
    const isEmpty = hidden.unknown.length + hidden.repositories.length === 0;
    return { snapshot, since, hidden: isEmpty ? undefined : await runLog.toPayload(deps.blobs, hidden) };
  } catch (error) {
    deps.logger.warn({ run_id: runId, snapshot, err: error }, 'the files of a held call could not be looked at');
    return undefined;
  }
}

/**
 * Ends the job of a parked step or publication: the job sleeps until the deadline and holds no worker. After the deadline the approval
 * expires.
 * @returns `again` when the approval is not pending any more
 */
export async function awaitDecision(
  deps: EngineDeps,
  run: domain.RunState,
  approvalId: string | undefined,
  expire: (approval: domain.ApprovalState) => domain.Transition | Promise<domain.Transition>,
): Promise<JobEnd | 'again'> {
  const approval = await pendingApproval(deps, run, approvalId);
  if (approval === undefined) return 'again';
  const { expiresAt } = approval;
  if (expiresAt > deps.now()) return { kind: 'sleep', until: expiresAt };
  const appended = await runLog.append(deps, run.id, await expire(approval));
  if (appended.ok) await runLog.untrackApproval(deps.redis, approval.id);
  return 'again';
}

/**
 * Parks a call whose other side asks a person before it continues. Who decides on the call also answers, in the same way. No-op when the
 * attempt is no longer running.
 */
export async function parkQuestion(
  deps: WorkerDeps,
  { id: runId }: domain.RunState,
  step: domain.StepState,
  { verdict, ...asked }: domain.NewQuestion & { verdict: contract.Verdict },
): Promise<void> {
  const question = await runLog.fromPayload(deps.blobs, asked.question);
  await runLog.retryWhileContended(step.id, async () => {
    const found = await runLog.readStep(deps.redis, runId, step.id);
    if (found?.step.status !== 'running' || found.step.attempt !== step.attempt) return true;
    const { run } = found;
    // A canceled run settles the attempt like any other attempt.
    if (run.status === 'canceling') return true;
    const round = domain.nextRound(found.step);
    const preview = await runLog.toPayload(deps.blobs, shown(question, round));
    const terms = await termsFor(deps, run, found.step, verdict);
    const decided = await hasDecision(deps, run, found.step);
    const uses = `question ${createHash('sha256')
      .update(contract.canonicalJson([round, question]))
      .digest('hex')}`;
    const reason = `the MCP server ${question.server} asks before the call continues`;
    return requestApproval(deps, run, async (open) =>
      domain.askQuestion(run, found.step, { ...asked, decided, preview, uses, reason, terms, ...(await open(terms)) }),
    );
  });
}

const shown = (question: contract.OutsideQuestion, round: number) => ({
  kind: 'question',
  question: contract.questionText(question, round),
  options: contract.questionOptions(question),
  server: question.server,
});

/** Why no person can answer; undefined when one can. Several callers agree on a call as it is, and an answer adds to the call. */
export async function whyNotAnswerable(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  verdict: contract.Verdict,
): Promise<contract.Problem | undefined> {
  const { deciders } = await termsFor(deps, run, step, verdict);
  if (!domain.needsSeveral(deciders)) return undefined;
  return {
    code: 'EQUORUM',
    message:
      'The server asks a question before the call continues, and several callers have to agree on this call: one answer is not enough.',
    next: 'Make the call with arguments that leave nothing to ask, or continue without it.',
  };
}

/** The terms of the last approval of the call, or of the rule that holds such calls. No rule holds the question itself. */
async function termsFor(
  { redis }: WorkerDeps,
  run: domain.RunState,
  { approval, call }: domain.StepState,
  verdict: contract.Verdict,
): Promise<contract.ApprovalTerms> {
  const before = approval === undefined ? undefined : await runLog.readApproval(redis, run.id, approval);
  return questionTerms(before?.request ?? (verdict.rule === undefined ? call.verdict : verdict) ?? {});
}

const questionTerms = ({
  deciders,
  expires_s,
  confirm,
  remind_after_s,
  escalate,
}: contract.ApprovalTerms): contract.ApprovalTerms => ({
  deciders,
  expires_s,
  confirm,
  remind_after_s,
  escalate,
});
