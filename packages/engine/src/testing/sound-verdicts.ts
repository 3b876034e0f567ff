import type { LoggedEvent, Verdict } from '@holdpoint/contract';
import { expect } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';
import { factsThen, judgeAgain } from '../policies/replay/judge-again.ts';
import { policiesThen } from '../policies/replay/policies-then.ts';
import { type LoggedCall, readCalls } from '../policies/replay/read-calls.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>;

/**
 * A replay under the policies of then equals what the gate did: each call gets its recorded verdict again, and what followed in the log
 * agrees with it.
 */
export async function soundVerdicts(deps: Deps, run: RunState, events: readonly LoggedEvent[]): Promise<void> {
  const spec = await readSpec(deps, run);
  for (const call of await readCalls(events)) {
    const { verdict } = call;
    if (verdict === undefined) continue;
    const read = await factsThen(deps, { spec, isAgent: run.parent !== undefined }, call);
    const then = await policiesThen(deps, spec, call.policies);
    // A test may judge with a policy of the operator that it keeps to itself.
    if (read.ok && then.isComplete) {
      expect(comparable(judgeAgain(then, read.facts, call)), call.stepId).toEqual(comparable(verdict));
    }
    followed(call, verdict, events);
  }
}

/** The same content may be several versions of the operator's policy. As JSON: the log has no undefined. */
const comparable = ({ rule, ...verdict }: Verdict): unknown =>
  JSON.parse(
    JSON.stringify({ ...verdict, rule: rule?.policy === 'operator' ? { ...rule, version: undefined } : rule }),
  );

function followed({ stepId }: LoggedCall, { action, reason }: Verdict, events: readonly LoggedEvent[]): void {
  const own = events.filter((event) => 'step_id' in event && event.step_id === stepId);
  const begun = own.findIndex(({ type }) => type === 'step.queued' || type === 'step.started');
  const approved = own.findIndex(
    (event) =>
      event.type === 'approval.decided' && (event.data.decision === 'approve' || event.data.decision === 'edit'),
  );
  switch (action) {
    case 'deny':
      expect(begun, `${stepId} was denied`).toBe(-1);
      break;
    case 'hold':
      if (begun === -1) break;
      expect(approved, `${stepId} was held`).not.toBe(-1);
      expect(approved, `${stepId} was held`).toBeLessThan(begun);
      break;
    case 'allow':
      // A tool's question, or a policy that became stricter, holds it for another reason.
      for (const event of own) {
        if (event.type === 'approval.requested') expect(event.data.reason, stepId).not.toBe(reason);
      }
      break;
    default:
      action satisfies never;
  }
}
