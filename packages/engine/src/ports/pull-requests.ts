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

/** Pull requests at code hosts. Each call may be repeated after a crash: no pull request is opened twice. */
export interface PullRequestPort {
  /**
   * Refuses what the code host would refuse once the branch is pushed: a token that was revoked or may not write, an unknown base, a pull
   * request of this run that was merged or closed with another commit. Writes nothing.
   */
  check(call: PullRequestCall): Promise<void>;
  /** Marks the pushed commit with the validators and the decisions, and opens the pull request, or updates the one that the run opened before. */
  open(call: PullRequestCall & { report: PullRequestReport }): Promise<PullRequest>;
}
