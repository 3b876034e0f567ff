import type { Approval } from '@holdpoint/client/wire/approval';
import type { CreateRun } from '@holdpoint/client/wire/run';

/** What the API has acknowledged, as the clients saw it. */
export interface Ledger {
  runs: Map<string, { body: CreateRun; forkedFrom?: { runId: string; kept: string[] } }>;
  /** Decisions that were answered with 200: what was sent. */
  decided: { approvalId: string; runId: string; decision: string; message: string }[];
  /** Decisions that were refused with a conflict. */
  refused: number;
  messages: { runId: string; messageId: string; text: string }[];
  published: string[];
  /** Visits of the site, by mark. */
  visits: Map<string, number>;
  /** Requests that got no answer, and were sent again. */
  unanswered: number;
}

export const openLedger = (): Ledger => ({
  runs: new Map(),
  decided: [],
  refused: 0,
  messages: [],
  published: [],
  visits: new Map(),
  unanswered: 0,
});

/** A decision with words that nobody else uses, so that it is found again. */
export interface Deciding {
  decision: 'approve' | 'edit' | 'reject' | 'respond';
  action_digest: string;
  message: string;
  args?: Record<string, never>;
}

export const decisionFor = (approval: Approval, decision: Deciding['decision'], words: string): Deciding => ({
  decision,
  action_digest: approval.action_digest,
  message: words,
  ...(decision === 'edit' ? { args: approval.action.args as Record<string, never> } : {}),
});
