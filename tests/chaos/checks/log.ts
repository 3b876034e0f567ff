import { isDeepStrictEqual } from 'node:util';
import { fold } from '@holdpoint/engine/testing';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Found, FoundRun } from '../collect.ts';
import { type Answered, isLost, type Ledger } from '../ledger.ts';

/** Everything acknowledged is in the log of its run, except for the harness's cuts in the file of Redis. */
export function acknowledged(found: Found, ledger: Ledger): Verdict {
  const all = missing(found, ledger);
  const wrong = all.filter(({ at }) => !isLost(ledger, at)).map(({ what }) => what);
  const looked = ledger.runs.size + ledger.decided.length + ledger.messages.length;
  const of = `acknowledgements, ${all.length - wrong.length} lost with the tail of Redis`;
  return verdict('acknowledged submits, decisions and messages are in the log', looked, of, wrong);
}

/** Acknowledged writes missing in a log, with the time of the acknowledgement. */
export function missing({ runs }: Found, ledger: Ledger): { at: Answered; what: string }[] {
  const gone: { at: Answered; what: string }[] = [];
  for (const [id, { at }] of ledger.runs) {
    if (!runs.has(id)) gone.push({ at, what: `the run ${id} was acknowledged and is gone` });
  }
  for (const { at, approvalId, runId, decision, message } of ledger.decided) {
    const isRecorded = runs.get(runId)?.events.some((event) => {
      if (event.type !== 'approval.decided' || event.data.approval_id !== approvalId) return false;
      return event.data.decision === decision && event.data.message === message;
    });
    if (!isRecorded)
      gone.push({ at, what: `${decision} on ${approvalId} of ${runId} was acknowledged and is not in the log` });
  }
  for (const { at, runId, messageId } of ledger.messages) {
    const recorded = runs
      .get(runId)
      ?.events.filter((event) => event.type === 'message.received' && event.data.message_id === messageId);
    const count = recorded?.length ?? 0;
    if (count !== 1) gone.push({ at, what: `the message ${messageId} to ${runId} is ${count} times in the log` });
  }
  return gone;
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

/** The first decision wins: an approval ends once, and all requests with the answer 200 sent this decision. */
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
  for (const { at, approvalId, message } of ledger.decided) {
    if (isLost(ledger, at)) continue;
    const before = winners.get(approvalId);
    if (before !== undefined && before !== message) wrong.push(`two different decisions on ${approvalId} got 200`);
    winners.set(approvalId, message);
  }
  return verdict('the first decision wins', looked, `approvals, ${ledger.refused} late decisions refused`, wrong);
}

/** A rejected, expired or canceled step has never started. */
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
