import { isDeepStrictEqual } from 'node:util';
import type { LoggedEvent, Verdict } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, readSpec, readWholeLog } from '../log/index.ts';
import { type LoggedCall, readCalls } from '../policies/replay/read-calls.ts';
import { factsThen, judgeAgain, policiesThen } from '../policies/replay/replay-policy.ts';
import { walkAllRuns } from '../queries/list-runs.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>;

/**
 * What is wrong in a log when a replay under the policies of then differs from what the gate did: a call gets another verdict, or what
 * followed in the log does not agree with its verdict.
 */
export async function unsoundVerdicts(deps: Deps, run: RunState, events: readonly LoggedEvent[]): Promise<string[]> {
  const spec = await readSpec(deps, run);
  const problems: string[] = [];
  for (const call of await readCalls(events)) {
    const { verdict, stepId } = call;
    if (verdict === undefined) continue;
    const read = await factsThen(deps, { spec, run }, call);
    const then = await policiesThen(deps, spec, call.policies);
    // A test may judge with a policy of the operator that it keeps to itself.
    if (read.ok && then.isComplete) {
      const [was, again] = [verdict, judgeAgain(spec, then, { facts: read.facts, ...call })].map(comparable);
      if (!isDeepStrictEqual(was, again)) {
        problems.push(`${run.id} ${stepId}: recorded ${JSON.stringify(was)}, again ${JSON.stringify(again)}`);
      }
    }
    const disagreement = disagrees(call, verdict, events);
    if (disagreement !== undefined) problems.push(`${run.id} ${stepId}: ${disagreement}`);
  }
  return problems;
}

/** The same for every run of an installation. @throws what is wrong */
export async function assertSoundVerdicts(deps: Deps): Promise<void> {
  const problems: string[] = [];
  for await (const id of walkAllRuns(deps)) {
    const run = await readRun(deps.redis, id);
    if (run === undefined) continue;
    const events = await Array.fromAsync(readWholeLog(deps.redis, id));
    problems.push(...(await unsoundVerdicts(deps, run, events)));
  }
  if (problems.length > 0) throw new Error(`a replay differs from what the gate did:\n${problems.join('\n')}`);
}

/** The same content may be several versions of the operator's policy. As JSON: the log has no undefined. */
const comparable = ({ rule, ...verdict }: Verdict): unknown =>
  JSON.parse(
    JSON.stringify({ ...verdict, rule: rule?.policy === 'operator' ? { ...rule, version: undefined } : rule }),
  );

function disagrees({ stepId }: LoggedCall, { action, reason }: Verdict, events: readonly LoggedEvent[]) {
  const own = events.filter((event) => 'step_id' in event && event.step_id === stepId);
  const begun = own.findIndex(({ type }) => type === 'step.queued' || type === 'step.started');
  switch (action) {
    case 'deny':
      return begun === -1 ? undefined : 'it was denied and began';
    case 'hold':
      return begun === -1 || own.slice(0, begun).some(isRelease) ? undefined : 'it was held and began by itself';
    case 'allow':
      // A tool's question, or a policy that became stricter, holds it for another reason.
      return own.some((event) => event.type === 'approval.requested' && event.data.reason === reason)
        ? 'it was allowed and held for the same reason'
        : undefined;
    default:
      return action satisfies never;
  }
}

const isRelease = (event: LoggedEvent): boolean =>
  event.type === 'approval.decided' && (event.data.decision === 'approve' || event.data.decision === 'edit');
