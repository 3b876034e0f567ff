import type { EventOf, LoggedEvent, PolicyAction } from '@holdpoint/contract';
import type { RecordedCall } from '@holdpoint/policy';

type Created = EventOf<'step.created'>['data'];

/** A call in the log: judged, and perhaps decided by a person. */
export interface LoggedCall
  extends Pick<
    Created,
    'tool' | 'args' | 'written' | 'effect' | 'risk' | 'gate' | 'planning' | 'verdict' | 'policies'
  > {
  stepId: string;
  at: string;
  was: PolicyAction;
  decision: RecordedCall['decision'];
}

interface Seen {
  created: Created;
  at: string;
  /** Approvals of the call. An approval of an indeterminate attempt is not an approval of the call, nor is a question of a server. */
  asked: Set<string>;
  decision: RecordedCall['decision'];
  isDenied: boolean;
}

/** The calls of a run that a gate has judged. Inherited calls of a fork belong to the original run. */
export async function readCalls(events: AsyncIterable<LoggedEvent> | Iterable<LoggedEvent>): Promise<LoggedCall[]> {
  const seen = new Map<string, Seen>();
  for await (const event of events) {
    if (event.type === 'step.created') {
      const { data: created, time: at } = event;
      seen.set(event.step_id, { created, at, asked: new Set(), decision: undefined, isDenied: false });
      continue;
    }
    const step = seen.get(idOf(event));
    if (step !== undefined && !isJudged(step, event)) seen.delete(idOf(event));
    else if (step !== undefined) note(step, event);
  }
  return [...seen].map(([stepId, { created, at, asked, decision, isDenied }]) => {
    const { tool, args, written, effect, risk, gate, planning, verdict, policies } = created;
    const was = verdict?.action ?? (isDenied ? 'deny' : asked.size > 0 ? 'hold' : 'allow');
    return { stepId, at, tool, args, written, effect, risk, gate, planning, verdict, policies, was, decision };
  });
}

const idOf = (event: LoggedEvent): string => ('step_id' in event ? (event.step_id ?? '') : '');

/** A call with arguments that its tool refuses settles without a verdict. */
function isJudged({ created: { verdict } }: Seen, event: LoggedEvent): boolean {
  if (!('inherited_from' in event.data || 'error' in event.data)) return true;
  if ('inherited_from' in event.data && event.data.inherited_from !== undefined) return false;
  return event.type !== 'step.failed' || event.data.attempt !== null || verdict !== undefined;
}

/** A question of the other side of a call that ran is no approval of the call. */
const isAboutCall = ({ created: { gate } }: Seen, kind: EventOf<'approval.requested'>['data']['kind']): boolean =>
  kind === 'action' || (kind === 'input' && gate !== undefined);

function note(step: Seen, event: LoggedEvent): void {
  switch (event.type) {
    case 'approval.requested':
      if (isAboutCall(step, event.data.kind)) step.asked.add(event.data.approval_id);
      break;
    case 'approval.decided':
      if (!step.asked.has(event.data.approval_id)) break;
      // A remembered rule repeats an earlier decision of a person, and is not counted as a decision.
      if (event.data.rule_id !== undefined) break;
      step.decision ??= event.data.expired
        ? { kind: 'expired', at: event.time }
        : { kind: event.data.decision, by: event.data.by, at: event.time };
      break;
    case 'approval.expired':
      if (step.asked.has(event.data.approval_id)) step.decision ??= { kind: 'expired', at: event.time };
      break;
    case 'step.rejected':
      step.isDenied ||= event.data.error?.code === 'EPERMISSION';
      break;
    default:
  }
}
