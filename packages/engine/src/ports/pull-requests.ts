import type { DecisionKind, PullRequest, PullRequestTarget, SecretScope, ValidatorResult } from '@holdpoint/contract';

/** A pull request, and the branch with its change. */
export interface PullRequestCall {
  runId: string;
  /** Whose secret holds the token. */
  scope: SecretScope;
  target: PullRequestTarget;
  /** Full name of the branch of the change. */
  branch: string;
  /** The commit that the branch has after the push. */
  commit: string;
  signal: AbortSignal;
}

/** A person's decision in a run. */
export interface ReportedDecision {
  decision: DecisionKind;
  by: string;
  /** Everyone who approved, where several had to. */
  votes: readonly string[];
  digest: string;
  at: string;
}

/** The facts about the run in a pull request. */
export interface PullRequestReport {
  /** The last answer of the run. */
  message: string;
  /** Digest of the published plan. */
  digest: string;
  validators: readonly ValidatorResult[];
  /** The latest ones; `decided` counts all. */
  decisions: readonly ReportedDecision[];
  decided: number;
}

/** An account at a code host. An account keeps its id when it is renamed. */
export interface CodeHostUser {
  id: string;
  name: string;
  /** Not the account of a program. */
  isPerson: boolean;
}

/** A text of an account in a pull request. Whether the account may write is not known yet. */
export interface PullRequestRemark {
  /** A comment on a line, a review that requests changes, or a command in the conversation of the pull request. */
  kind: 'comment' | 'review' | 'command';
  /** Unique within the kind. */
  id: string;
  /** Undefined: the account is gone, or the text was sent by a program. */
  by: CodeHostUser | undefined;
  /** For the model, with its path, line and hunk. */
  text: string;
}

/** A check that failed on the published commit. */
export interface FailedCheck {
  id: string;
  name: string;
  /** What the check says about itself. */
  summary: string;
  /** Where its log is; undefined: it has none. */
  log?: string | undefined;
}

/** How a pull request is at its code host. */
export interface PullRequestNews {
  status: 'open' | 'merged' | 'closed';
  failed: readonly FailedCheck[];
  /** The number of checks without a result. */
  pending: number;
  remarks: readonly PullRequestRemark[];
  /** What the token may not read. */
  unread: readonly string[];
}

/** An answer to a comment, under a number that was chosen before the answer is sent. */
export interface PullRequestAnswer {
  to: Pick<PullRequestRemark, 'kind' | 'id'>;
  nonce: string;
}

/** A pull request that was opened. */
export interface OpenedPull {
  call: PullRequestCall;
  number: number;
}

/** Pull requests at code hosts. Each call may be repeated after a crash: no pull request is opened twice. */
export interface PullRequestPort {
  /**
   * Refuses what the code host would refuse once the branch is pushed: a token that was revoked or may not write, an unknown base, a pull
   * request of this run that was merged or closed with another commit. Writes nothing.
   */
  check(call: PullRequestCall): Promise<void>;
  /** Marks the pushed commit with the validators and the decisions, and opens the pull request, or updates the one that the run opened before. */
  open(call: PullRequestCall & { report: PullRequestReport }): Promise<PullRequest>;
  /** Reads the pull request with its checks and its comments. */
  news(pull: OpenedPull): Promise<PullRequestNews>;
  /** Whether the account may write to the repository now. */
  mayWrite(pull: OpenedPull, user: CodeHostUser): Promise<boolean>;
  /** The text about a failed check for the model, with the end of its log. */
  describeCheck(pull: OpenedPull, check: FailedCheck): Promise<string>;
  /** Answers a comment, unless an answer with this nonce is there. */
  answer(pull: OpenedPull, answer: PullRequestAnswer): Promise<void>;
}
