import type { Verdict } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { fromPayload, readApproval, readStep, retryWhileContended } from '../log/index.ts';
import { chooseRule, decisionOf } from './choose-rule.ts';
import { readPersons } from './decide-step.ts';
import { askTool } from './judge-step.ts';
import { previewCall, type ShownCall } from './preview-call.ts';
import { advisoryOf, rulesFor } from './remembered-rules.ts';
import { requestApproval } from './request-approval.ts';
import { submittersOf } from './submitters.ts';

/**
 * Parks a call whose attempt found a reason to ask a person, unless a remembered rule answers. The attempt did nothing. No-op when the
 * attempt is no longer running.
 */
export async function parkAttempt(
  deps: WorkerDeps,
  { id: runId }: domain.RunState,
  step: domain.StepState,
  verdict: Verdict,
  signal: AbortSignal,
): Promise<void> {
  await retryWhileContended(step.id, async () => {
    const found = await readStep(deps.redis, runId, step.id);
    if (found?.step.status !== 'running' || found.step.attempt !== step.attempt) return true;
    const { run } = found;
    // A canceled run settles the attempt like any other attempt.
    if (run.status !== 'running' && run.status !== 'waiting') return true;
    const shown = await previewCall(deps, run, found.step, signal, verdict.preview);
    const answer = await findAnswer(deps, run, found.step, { verdict, shown }, signal);
    const edited_by = await editorsBefore(deps, run, found.step);
    return requestApproval(deps, run, async (open) =>
      domain.holdAttempt(
        run,
        found.step,
        answer === undefined
          ? { action: 'hold', verdict, edited_by, ...(await open(verdict)), ...shown }
          : { action: 'answer', verdict, ...answer, ...(await open(verdict, 'answered')), ...shown },
      ),
    );
  });
}

async function editorsBefore({ redis }: WorkerDeps, run: domain.RunState, { approval }: domain.StepState) {
  const before = approval === undefined ? undefined : await readApproval(redis, run.id, approval);
  return before && domain.editorsOf(before);
}

/**
 * The remembered rule that decides a call held by the policy, with the digest of the decided action. The rule's maker must have the right to
 * decide so on this call, and a call is approved only when the tool has no question.
 */
export async function findAnswer(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  { verdict, shown }: { verdict: Verdict; shown: ShownCall },
  signal: AbortSignal,
): Promise<{ rule: domain.RuleState; digest: string } | undefined> {
  const { reaches, uses } = shown;
  if (verdict.rule === undefined || step.call.gate !== undefined) return undefined;
  const { toolset } = run.header;
  const args = await fromPayload(deps.blobs, step.args);
  const { tool } = step.call;
  const call = { toolset, tool, args, effect: step.effect, reaches };
  const rules = await rulesFor(deps, run, domain.coveringDigests(call, advisoryOf(deps.catalog, call)));
  if (rules.length === 0) return undefined;
  const panel = await panelFor(deps, run, step, { verdict, rules });
  const rule = chooseRule(rules, panel, domain.termsOf(step, verdict));
  if (rule === undefined) return undefined;
  if (decisionOf(rule) === 'approve' && (await askTool(deps, run, step, signal)) !== undefined) return undefined;
  return { rule, digest: domain.actionDigest({ toolset, tool, args, snapshot: run.snapshot ?? '', uses, reaches }) };
}

/** Who decides on a call that no approval asks about yet. */
async function panelFor(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  { verdict: { deciders = [] }, rules }: { verdict: Verdict; rules: readonly { rule: domain.RuleState }[] },
): Promise<domain.Panel> {
  const separates = deciders.some(({ not_submitter }) => not_submitter);
  const submitters = separates ? await submittersOf(deps, run, step.id) : [];
  const makers = rules.map(({ rule: { made } }) => made.by);
  const persons = separates ? await readPersons(deps, run, [...makers, ...(submitters ?? [])]) : undefined;
  return { deciders, delegations: [], escalated: [], submitters, persons };
}
