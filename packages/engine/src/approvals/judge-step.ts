import { isDeepStrictEqual } from 'node:util';
import type { CallDescription, Json, RunSpec, Verdict } from '@holdpoint/contract';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import { policiesInForce, type RunState, type StepState, stricter } from '../domain/index.ts';
import { fromPayload, readApproval, readSpec } from '../log/index.ts';
import { askTool } from './ask-tool.ts';
import { describeCall } from './describe-call.ts';
import { judgeDescribed, toolsetPolicyOf } from './judge-described.ts';
import { judgeResolved } from './judge-resolved.ts';

/**
 * The verdict on a step as it is now. The recorded one counts while the policies are those that made it; under others the call is judged
 * again, and the stricter verdict counts.
 */
export async function judgeStep(deps: WorkerDeps, run: RunState, spec: RunSpec, step: StepState): Promise<Verdict> {
  const { verdict, policies, tool, gate } = step.call;
  const isEdited = step.approval !== undefined;
  const inForce = policiesInForce(spec, deps.operatorPolicy?.(), toolsetPolicyOf(deps.catalog, spec));
  if (verdict !== undefined && !isEdited && policies === inForce) return verdict;
  const describe = (given: Json): CallDescription => describeCall(deps, spec, { run, tool, args: given });
  const checked = await fromPayload(deps.blobs, step.args);
  const described = describe(checked);
  const args = await asWritten(deps, step, { checked, describe });
  // A tool that is gone: the run pauses for the change of its tools, or the call fails.
  const known = described.ok ? described : { effect: step.effect, risk: step.call.risk, gate };
  const judged = judgeDescribed(deps, spec, { tool, args, described: known }).verdict;
  return verdict === undefined || isEdited ? judged : stricter(judged, verdict);
}

/** The arguments that a policy judges: those of the planner as it wrote them, or those of a decision that edited them. */
async function asWritten(
  { blobs }: Pick<EngineDeps, 'blobs'>,
  { call: { written }, approval }: StepState,
  { checked, describe }: { checked: Json; describe: (args: Json) => CallDescription },
): Promise<Json> {
  if (written === undefined) return checked;
  const given = await fromPayload(blobs, written);
  if (approval === undefined) return given;
  const described = describe(given);
  return described.ok && isDeepStrictEqual(described.args, checked) ? given : checked;
}

/** The same, and on the paths that links in the workspace make of those in the arguments. */
async function judgeOnTree(deps: WorkerDeps, run: RunState, step: StepState, signal: AbortSignal): Promise<Verdict> {
  const spec = await readSpec(deps, run);
  const verdict = await judgeStep(deps, run, spec, step);
  return verdict.action === 'deny' ? verdict : judgeResolved(deps, { run, spec, step, verdict, signal });
}

/** The same with a look at the workspace: a tool adds its question to what the policy allows. */
export async function judgeInPlace(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<Verdict> {
  const verdict = await judgeOnTree(deps, run, step, signal);
  if (verdict.action !== 'allow') return verdict;
  const question = await askTool(deps, run, step, signal);
  return question === undefined ? verdict : { action: 'hold', reason: question };
}

/**
 * The verdict on a call whose attempt has begun. The policy may have become stricter since the call passed the gate, and the workspace may
 * have changed under the tool's question. A decision of a person answers a hold, never a denial.
 */
export async function judgeBegun(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<Verdict> {
  const isDecided = step.approval !== undefined;
  const unconfirmed = await editToConfirm(deps, run, step);
  if (unconfirmed !== undefined) return unconfirmed;
  // A call that waited for its task was let through when it began.
  if (isDecided || step.deferred !== undefined) {
    const verdict = await judgeOnTree(deps, run, step, signal);
    if (verdict.action === 'deny') return verdict;
    // Where no person looked at the workspace, the tool does.
    const question = (await isUnseen(deps, run, step)) ? await askTool(deps, run, step, signal) : undefined;
    return question === undefined ? { ...verdict, action: 'allow' } : { action: 'hold', reason: question };
  }
  return judgeInPlace(deps, run, step, signal);
}

/** Where who submits may not decide, an edit makes its author a submitter: another person confirms the edited call. */
async function editToConfirm({ redis }: WorkerDeps, run: RunState, step: StepState): Promise<Verdict | undefined> {
  if (step.approval === undefined) return undefined;
  const { request, decision } = (await readApproval(redis, run.id, step.approval)) ?? {};
  if (decision?.decision !== 'edit' || !request?.deciders?.some(({ not_submitter }) => not_submitter)) return undefined;
  const { rule: _, deciders, expires_s, remind_after_s, escalate } = request;
  const reason = `${decision.by} edited this call: another person has to confirm it`;
  return { action: 'hold', reason, decisions: ['approve'], deciders, expires_s, remind_after_s, escalate };
}

/** Whether a rule or the policy decided, and no person saw this call. */
async function isUnseen({ redis }: WorkerDeps, run: RunState, { call, approval }: StepState): Promise<boolean> {
  if (call.looks === undefined || approval === undefined) return false;
  const { decision } = (await readApproval(redis, run.id, approval)) ?? {};
  return decision?.rule_id !== undefined || decision?.expired !== undefined;
}
