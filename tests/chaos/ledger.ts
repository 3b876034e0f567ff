import type { Approval, CreateRun } from '@holdpoint/contract/wire';

/** When a request was sent, and when its answer arrived. */
export interface Answered {
  sent: number;
  answered: number;
}

/** Everything acknowledged by the API to the clients. */
export interface Ledger {
  runs: Map<string, { at: Answered; body: CreateRun; forkedFrom?: { runId: string; kept: string[] } }>;
  /** Requests of decisions with the answer 200. */
  decided: { at: Answered; approvalId: string; runId: string; decision: string; message: string }[];
  /** Decisions refused with a conflict. */
  refused: number;
  messages: { at: Answered; runId: string; messageId: string; text: string }[];
  published: { at: Answered; runId: string }[];
  /** Visits of the site, by mark. */
  visits: Map<string, number[]>;
  /** Number of requests without an answer, sent again. */
  unanswered: number;
  /** Periods whose acknowledged writes Redis has lost: the harness cut them from its file. */
  lost: { from: number; to: number }[];
  /** Starts of workers with another Redis, by outcome. */
  wrongRedis: { refused: number; started: number };
  /** Periods of refused writes in Redis, with the system's own report about its readiness. */
  refusals: { how: 'no memory' | 'read-only'; saidReady: boolean }[];
  /** The begin of each limit on a tenant's active runs. */
  places: { from: number; most: number }[];
  /** Concurrent steps of each worker process, by its id. */
  workers: Map<string, number>;
  /** Requests refused by a limit and sent again. */
  limited: number;
  /** Runs kept out by a limit until the end of the trial: none was acknowledged. */
  keptOut: number;
  /** Workspaces and blobs removed by a worker with another Redis. */
  filesLost: string[];
}

/** Whether Redis may have lost a write. An answer may arrive after the loss and acknowledge an earlier write. */
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
  places: [],
  workers: new Map(),
  limited: 0,
  keptOut: 0,
  filesLost: [],
});

/** A decision with a unique message, for the search in the log. */
export interface Decision {
  decision: 'approve' | 'edit' | 'reject' | 'respond';
  action_digest: string;
  message: string;
  args?: Record<string, never>;
}

export const decisionFor = (approval: Approval, decision: Decision['decision'], message: string): Decision => ({
  decision,
  action_digest: approval.action_digest,
  message,
  args: decision === 'edit' ? (approval.action.args as Record<string, never>) : undefined,
});
