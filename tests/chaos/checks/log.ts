import { isDeepStrictEqual } from 'node:util';
import { fold } from '@holdpoint/engine/domain/fold';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Found, FoundRun } from '../collect.ts';
import type { Ledger } from '../ledger.ts';

/** Everything that was acknowledged is in the log of its run. */
export function acknowledged({ runs }: Found, ledger: Ledger): Verdict {
  const wrong: string[] = [];
  for (const id of ledger.runs.keys()) if (!runs.has(id)) wrong.push(`the run ${id} was acknowledged and is gone`);
  for (const { approvalId, runId, decision, message } of ledger.decided) {
    const told = runs.get(runId)?.events.some((event) => {
      if (event.type !== 'approval.decided' || event.data.approval_id !== approvalId) return false;
      return event.data.decision === decision && event.data.message === message;
    });
    if (!told) wrong.push(`${decision} on ${approvalId} of ${runId} was acknowledged and is not in the log`);
  }
  for (const { runId, messageId } of ledger.messages) {
    const told = runs
      .get(runId)
      ?.events.filter((event) => event.type === 'message.received' && event.data.message_id === messageId);
    if (told?.length !== 1) wrong.push(`the message ${messageId} to ${runId} is ${told?.length ?? 0} times in the log`);
  }
  const looked = ledger.runs.size + ledger.decided.length + ledger.messages.length;
  return verdict('acknowledged submits, decisions and messages are in the log', looked, 'acknowledgements', wrong);
}

export function dense({ runs }: Found): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [id, { events }] of runs) {
    looked += events.length;
    const at = events.findIndex((event, index) => event.seq !== index + 1);
    if (at !== -1) wrong.push(`${id}: event ${at + 1} has the number ${events[at]?.seq}`);
  }
  return verdict('sequence numbers are dense', looked, 'events', wrong);
}

export function folded({ runs }: Found): Verdict {
  const wrong = [...runs].flatMap(([id, found]) => difference(id, found));
  return verdict('a log folds to its state', runs.size, 'runs', wrong);
}

function difference(id: string, { events, hash }: FoundRun): string[] {
  const state = fold(events);
  if (isDeepStrictEqual(state, hash)) return [];
  const fields = [...new Set([...Object.keys(state), ...Object.keys(hash)])].filter(
    (field) => state[field] !== hash[field],
  );
  return [`${id}: ${fields.map((field) => `${field} is ${hash[field]}, and folds to ${state[field]}`).join('; ')}`];
}

/** The first decision wins: there is one per approval, and those who were told 200 sent it. */
export function firstDecision({ runs }: Found, ledger: Ledger): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [id, { events, approvals }] of runs) {
    for (const approval of approvals) {
      looked += 1;
      const ends = events.filter((event) => {
        const isEnd =
          event.type === 'approval.decided' || event.type === 'approval.expired' || event.type === 'approval.canceled';
        return isEnd && event.data.approval_id === approval.id;
      });
      if (ends.length > 1) wrong.push(`${id}: ${approval.id} ended ${ends.length} times`);
    }
  }
  const winners = new Map<string, string>();
  for (const { approvalId, message } of ledger.decided) {
    const before = winners.get(approvalId);
    if (before !== undefined && before !== message)
      wrong.push(`two deciders of ${approvalId} were told that they had won`);
    winners.set(approvalId, message);
  }
  return verdict('the first decision wins', looked, `approvals, ${ledger.refused} late decisions refused`, wrong);
}

/** What did not run has never started. */
export function neverRan({ runs }: Found): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [id, { steps, events }] of runs) {
    for (const step of steps) {
      if (step.status !== 'rejected' && step.status !== 'expired' && step.status !== 'canceled') continue;
      looked += 1;
      const started = events.some((event) => event.type === 'step.started' && event.step_id === step.id);
      if (started) wrong.push(`${id}: ${step.id} is ${step.status} and was started`);
    }
  }
  return verdict('rejected, expired and canceled steps ran nothing', looked, 'steps', wrong);
}
