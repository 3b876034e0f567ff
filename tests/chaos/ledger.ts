import type { Approval, CreateRun } from '@holdpoint/contract/wire';

/** When a request was sent, and when its answer came. */
export interface Answered {
  sent: number;
  answered: number;
}

/** What the API has acknowledged, as the clients saw it. */
export interface Ledger {
  runs: Map<string, { at: Answered; body: CreateRun; forkedFrom?: { runId: string; kept: string[] } }>;
  /** Decisions that were answered with 200: what was sent. */
  decided: { at: Answered; approvalId: string; runId: string; decision: string; message: string }[];
  /** Decisions that were refused with a conflict. */
  refused: number;
  messages: { at: Answered; runId: string; messageId: string; text: string }[];
  published: { at: Answered; runId: string }[];
  /** Visits of the site, by mark. */
  visits: Map<string, number[]>;
  /** Requests that got no answer, and were sent again. */
  unanswered: number;
  /** Times of acknowledgements that Redis has lost: the harness took them out of its file. */
  lost: { from: number; to: number }[];
  /** What workers did that were started with another Redis. */
  wrongRedis: { refused: number; started: number };
  /** Times in which Redis refused writes, and what the system said of itself. */
  refusals: { how: 'no memory' | 'read-only'; saidReady: boolean }[];
  /** Workspaces and blobs that are gone after that. */
  filesLost: string[];
}

/** Redis may have lost what was acknowledged then. An answer may come after the loss, and speak of what was before it. */
export const isLost = ({ lost }: Pick<Ledger, 'lost'>, { sent, answered }: Answered): boolean =>
  lost.some(({ from, to }) => answered >= from && sent <= to);

export const openLedger = (): Ledger => ({
  runs: new Map(),
  decided: [],
  refused: 0,
  messages: [],
  published: [],
  visits: new Map(),
  unanswered: 0,
  lost: [],
  wrongRedis: { refused: 0, started: 0 },
  refusals: [],
  filesLost: [],
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
