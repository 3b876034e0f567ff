import type { PullRequest } from '@holdpoint/contract';
import type { CodeHostUser, FailedCheck, PullRequestAnswer, PullRequestNews } from '@holdpoint/engine/worker';

/** A result that a code host shows beside a commit. */
export interface CommitStatus {
  context: string;
  /** At most 140 characters. */
  description: string;
}

/** A pull request as it should be. */
export interface Wanted {
  runId: string;
  /** Short name of the branch of the change. */
  branch: string;
  commit: string;
  base: string | undefined;
  title: string;
  body: string;
  draft: boolean;
  statuses: readonly CommitStatus[];
}

/** A pull request that was opened. */
export interface Opened extends Pick<Wanted, 'runId' | 'branch' | 'commit'> {
  number: number;
}

/** A code host with pull requests. Errors are `PullRequestError`s, with the host's own words in them. */
export interface CodeHost {
  check(wanted: Pick<Wanted, 'runId' | 'branch' | 'commit' | 'base'>): Promise<void>;
  open(wanted: Wanted): Promise<PullRequest>;
  news(pull: Opened): Promise<PullRequestNews>;
  mayWrite(user: CodeHostUser): Promise<boolean>;
  /** The text of the log of a check, from its end back; undefined: it cannot be read. */
  logEnd(check: FailedCheck): Promise<string | undefined>;
  answer(pull: Opened, answer: PullRequestAnswer): Promise<void>;
}
