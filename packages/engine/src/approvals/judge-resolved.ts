import type { RunSpec, Touches, Verdict } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { addUp, asPlanned, type RunState, type StepState, withCurrent } from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';
import { describeCall } from './describe-call.ts';
import { judgeDescribed } from './judge-described.ts';

/**
 * Judges a call on its real paths: a symbolic link in the workspace may lead to another path than its name. The stricter verdict counts,
 * and where both hold, the terms of both.
 */
export async function judgeResolved(
  deps: WorkerDeps,
  input: { run: RunState; spec: RunSpec; step: StepState; verdict: Verdict; signal: AbortSignal },
): Promise<Verdict> {
  const { run, step, verdict } = input;
  const spec = asPlanned(input.spec, step.call);
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
  return addUp(verdict, { ...judged, reason: `through a link: ${judged.reason}` });
}

/** Whether any rule, permission or protected path is about paths. The built-in rules are about deletions only. */
const dependsOnPaths = (
  { operatorPolicy, catalog }: WorkerDeps,
  { permissions, protected: closed, policy, toolset, settings, modes, ...bound }: RunSpec,
) => {
  if (permissions !== undefined || closed.length > 0) return true;
  const ofOperator = withCurrent(bound, operatorPolicy?.()).map(({ document }) => document);
  const all = [policy, ...ofOperator, catalog.rules(toolset, settings, modes)];
  return all.some(({ rules }) => rules.some(({ match }) => match.paths));
};

/** The paths whose links lead elsewhere. */
async function resolved(
  deps: WorkerDeps,
  { run, signal }: { run: RunState; signal: AbortSignal },
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
