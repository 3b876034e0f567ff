import { isDeepStrictEqual } from 'node:util';
import type { CallDescription, Json, RunSpec, Touches, Verdict } from '@holdpoint/contract';
import { modelOfRun } from '../agents/model-of-run.ts';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { fromPayload, readApproval, readSpec } from '../log/index.ts';
import { openPast } from '../queries/past-calls.ts';
import { describeCall } from './describe-call.ts';
import { judgeDescribed, toolsetPolicyOf } from './judge-described.ts';

/**
 * Judges a call on its real paths: a symbolic link in the workspace may lead to another path than its name. The stricter verdict counts,
 * and where both hold, the terms of both.
 */
async function judgeResolved(
  deps: WorkerDeps,
  input: { run: domain.RunState; spec: RunSpec; step: domain.StepState; verdict: Verdict; signal: AbortSignal },
): Promise<Verdict> {
  const { run, step, verdict } = input;
  const spec = domain.asPlanned(input.spec, step.call);
  const { tool } = step.call;
  const args = await fromPayload(deps.blobs, step.args);
  const described = describeCall(deps, spec, { run, tool, args });
  if (!described.ok || described.touches === undefined || described.touches.paths.length === 0) return verdict;
  const { touches } = described;
  // A look at the tree costs a round trip to the tool host.
  if (!dependsOnPaths(deps, spec) && touches.paths.every(({ access }) => access !== 'delete')) return verdict;
  const paths = await resolved(deps, input, touches.paths);
  if (paths.length === 0) return verdict;
  const led = { ...described, touches: { paths, hosts: [] } };
  const judged = judgeDescribed(deps, spec, { tool, args, described: led }).verdict;
  return domain.addUp(verdict, { ...judged, reason: `through a link: ${judged.reason}` });
}

/** Whether any rule, permission or protected path is about paths. The built-in rules are about deletions only. */
const dependsOnPaths = (
  { operatorPolicy, catalog }: WorkerDeps,
  { permissions, protected: closed, policy, toolset, settings, modes, ...bound }: RunSpec,
) => {
  if (permissions !== undefined || closed.length > 0) return true;
  const ofOperator = domain.withCurrent(bound, operatorPolicy?.()).map(({ document }) => document);
  const all = [policy, ...ofOperator, catalog.rules(toolset, settings, modes)];
  return all.some(({ rules }) => rules.some(({ match }) => match.paths));
};

/** The paths whose links lead elsewhere. */
async function resolved(
  deps: WorkerDeps,
  { run, signal }: { run: domain.RunState; signal: AbortSignal },
  touched: Touches['paths'],
): Promise<Touches['paths']> {
  const input = { runId: run.id, epoch: run.lease, signal };
  const paths = await deps.executor.resolvePaths(
    touched.map(({ path, written = path }) => written),
    input,
  );
  return touched.flatMap(({ path, access, written = path }, index) => {
    const real = paths[index];
    return real === undefined || real === path || real === written ? [] : [{ path: real, access }];
  });
}

/**
 * The current verdict on a step. The recorded verdict counts while its policies are in force. After a change of policies the call is judged
 * again, and the stricter verdict counts.
 */
export async function judgeStep(
  deps: WorkerDeps,
  run: domain.RunState,
  read: RunSpec,
  step: domain.StepState,
): Promise<Verdict> {
  const spec = domain.asPlanned(read, step.call);
  const { verdict, policies, tool, gate } = step.call;
  const isEdited = step.approval !== undefined;
  const inForce = domain.policiesInForce(spec, deps.operatorPolicy?.(), toolsetPolicyOf(deps.catalog, spec));
  if (verdict !== undefined && !isEdited && policies === inForce) return verdict;
  const describe = (given: Json): CallDescription => describeCall(deps, spec, { run, tool, args: given });
  const checked = await fromPayload(deps.blobs, step.args);
  const described = describe(checked);
  const args = await asWritten(deps, step, { checked, describe });
  // A tool that is gone: the run pauses for the change of its tools, or the call fails.
  const known = described.ok ? described : { effect: step.effect, risk: step.call.risk, gate };
  const judged = judgeDescribed(deps, spec, { tool, args, described: known }).verdict;
  return verdict === undefined || isEdited ? judged : domain.stricter(judged, verdict);
}

/** The arguments that a policy judges: the planner's original arguments, or the arguments of an edit. */
async function asWritten(
  { blobs }: Pick<EngineDeps, 'blobs'>,
  { call: { written }, approval }: domain.StepState,
  { checked, describe }: { checked: Json; describe: (args: Json) => CallDescription },
): Promise<Json> {
  if (written === undefined) return checked;
  const given = await fromPayload(blobs, written);
  if (approval === undefined) return given;
  const described = describe(given);
  return described.ok && isDeepStrictEqual(described.args, checked) ? given : checked;
}

/** Like `judgeStep`. Also judges the real paths of arguments that lead through links in the workspace. */
async function judgeOnTree(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  signal: AbortSignal,
): Promise<Verdict> {
  const spec = await readSpec(deps, run);
  const verdict = await judgeStep(deps, run, spec, step);
  return verdict.action === 'deny' ? verdict : judgeResolved(deps, { run, spec, step, verdict, signal });
}

/** Like `judgeOnTree`, with a question from the tool: a tool may look at the workspace and hold a call that the policy allows. */
export async function judgeInPlace(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  signal: AbortSignal,
): Promise<Verdict> {
  const verdict = await judgeOnTree(deps, run, step, signal);
  if (verdict.action !== 'allow') return verdict;
  const question = await askTool(deps, run, step, signal);
  return question === undefined ? verdict : { action: 'hold', reason: question };
}

/**
 * The verdict on a call whose attempt has begun. The policy may have become stricter since the call passed the gate, and the workspace may
 * have changed since the tool's question. A person's decision answers a hold, never a denial, and a hold that asks for a passkey only with
 * the proof of one.
 */
export async function judgeBegun(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  signal: AbortSignal,
): Promise<Verdict> {
  const isDecided = await hasDecision(deps, run, step);
  const unconfirmed = await editToConfirm(deps, run, step);
  if (unconfirmed !== undefined) return unconfirmed;
  // A call that waited for its task passed its gate before it began.
  if (isDecided || step.deferred !== undefined) {
    const verdict = await judgeOnTree(deps, run, step, signal);
    if (verdict.action === 'deny') return verdict;
    if (verdict.confirm !== undefined && step.deferred === undefined && !(await hasProof(deps, run, step)))
      return verdict;
    // When no person looked at the workspace, the tool does.
    const question = (await isUnseen(deps, run, step)) ? await askTool(deps, run, step, signal) : undefined;
    return question === undefined ? { ...verdict, action: 'allow' } : { action: 'hold', reason: question };
  }
  return judgeInPlace(deps, run, step, signal);
}

/** When the submitter may not decide, an edit makes its author a submitter: another person confirms the edited call. */
async function editToConfirm(
  { redis }: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
): Promise<Verdict | undefined> {
  if (step.approval === undefined) return undefined;
  const { request, decision } = (await readApproval(redis, run.id, step.approval)) ?? {};
  if (decision?.decision !== 'edit' || !request?.deciders?.some(({ not_submitter }) => not_submitter)) return undefined;
  const { rule: _, deciders, expires_s, confirm, remind_after_s, escalate } = request;
  const reason = `${decision.by} edited this call: another person has to confirm it`;
  return { action: 'hold', reason, decisions: ['approve'], deciders, expires_s, confirm, remind_after_s, escalate };
}

/** Whether everyone who released the call proved it with a passkey. */
async function hasProof({ redis }: WorkerDeps, run: domain.RunState, { approval }: domain.StepState): Promise<boolean> {
  const { decision } = (approval === undefined ? undefined : await readApproval(redis, run.id, approval)) ?? {};
  return (decision?.votes ?? [decision]).every((one) => one?.assertion !== undefined);
}

/** Whether a rule or the policy decided, so that no person saw this call. */
async function isUnseen(
  { redis }: WorkerDeps,
  run: domain.RunState,
  { call, approval }: domain.StepState,
): Promise<boolean> {
  if (call.looks === undefined || approval === undefined) return false;
  const { decision } = (await readApproval(redis, run.id, approval)) ?? {};
  return decision?.rule_id !== undefined || decision?.expired !== undefined;
}

/** The reason why the tool wants a person's decision before the call, in the present workspace; undefined when the tool has no question. */
export async function askTool(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (step.call.looks === undefined) return undefined;
  const args = await fromPayload(deps.blobs, step.args);
  const spec = await readSpec(deps, run);
  const { network, settings } = spec;
  const call = { toolset: run.header.toolset, tool: step.call.tool, args };
  const scope = domain.scopeOf(run, spec);
  const past = openPast(deps, run, step);
  const model = modelOfRun(deps, run, spec);
  return deps.executor.asks(call, { runId: run.id, epoch: run.lease, model, network, past, scope, settings, signal });
}

/** Whether a person decided on the call itself. An answer to a question of the server is no decision on the call. */
export async function hasDecision(
  { redis }: Pick<WorkerDeps, 'redis'>,
  run: domain.RunState,
  { approval, asked }: domain.StepState,
): Promise<boolean> {
  if (approval === undefined || asked === undefined || asked.decided) return approval !== undefined;
  return (await readApproval(redis, run.id, approval))?.request.kind !== 'input';
}
