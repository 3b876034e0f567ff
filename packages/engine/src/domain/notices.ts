import type { ApprovalTerms } from '@holdpoint/contract';
import { approvalField } from './fields/field.ts';
import type { ApprovalState } from './model.ts';
import { approvalIs, fieldIs, isAbsent, type Transition } from './transition.ts';

/** More reminders of the same approval would only fill the log. */
const mostReminders = 100;

interface Given {
  /** When the approval was requested, milliseconds since the epoch. */
  asked: number;
  reminded?: number;
  isEscalated?: boolean;
}

type Terms = Pick<ApprovalTerms, 'remind_after_s' | 'escalate'>;

/** When a reminder or the escalation is due next, milliseconds since the epoch; undefined: never. */
export function nextNotice(terms: Terms, given: Given): number | undefined {
  const times = [reminderAt(terms, given), escalationAt(terms, given)].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

const reminderAt = ({ remind_after_s }: Terms, { asked, reminded = 0 }: Given): number | undefined =>
  remind_after_s === undefined || reminded >= mostReminders
    ? undefined
    : asked + (reminded + 1) * remind_after_s * 1000;

const escalationAt = ({ escalate }: Terms, { asked, isEscalated }: Given): number | undefined =>
  escalate === undefined || isEscalated ? undefined : asked + escalate.after_s * 1000;

export const noticesGiven = ({ request, reminded, escalated }: ApprovalState): Given => ({
  asked: Date.parse(request.requested_at),
  reminded,
  isEscalated: escalated !== undefined,
});

/** The notices due by now, recorded once: the second of two racing processes is refused. Undefined: nothing is due. */
export function giveNotice(approval: ApprovalState, now: number): Transition | undefined {
  const { id, request } = approval;
  const given = noticesGiven(approval);
  const remind = isPast(reminderAt(request, given), now);
  const escalate = isPast(escalationAt(request, given), now) ? request.escalate : undefined;
  if (!remind && escalate === undefined) return undefined;
  const { step_id } = request;
  return {
    if: [
      approvalIs(id, 'pending'),
      fieldIs(approvalField.reminded(id), approval.reminded),
      ...(escalate === undefined ? [] : [isAbsent(approvalField.escalated(id))]),
    ],
    events: [
      ...(escalate === undefined
        ? []
        : [{ type: 'approval.escalated' as const, step_id, data: { approval_id: id, to: escalate.to } }]),
      ...(remind
        ? [
            {
              type: 'approval.reminded' as const,
              step_id,
              data: { approval_id: id, times: timesBy(request.remind_after_s ?? 1, given, now) },
            },
          ]
        : []),
    ],
  };
}

const isPast = (time: number | undefined, now: number): boolean => time !== undefined && time <= now;

/** Reminders due while no worker ran count as one reminder. */
const timesBy = (everySeconds: number, { asked }: Given, now: number): number =>
  Math.min(mostReminders, Math.floor((now - asked) / (everySeconds * 1000)));
