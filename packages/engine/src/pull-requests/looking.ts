import { isTerminal, type PublicationStatus } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import type { PullRequestPort } from '../ports/index.ts';
import type { Hearing } from './choose.ts';
import type { PullState } from './state.ts';
import type { PullStore, StoredPull } from './store.ts';

export interface PullDeps {
  engine: EngineDeps;
  port: PullRequestPort;
  store: PullStore;
  /** Has this pull request looked at once more. */
  wake: (runId: string, at: number) => Promise<void>;
  /** Milliseconds after which a process that holds a pull request counts as dead. */
  lostMs: number;
}

/** A look at a pull request. */
export interface Look {
  deps: PullDeps;
  found: StoredPull;
  signal: AbortSignal;
}

/** What a look leaves behind. */
export interface Next {
  state: PullState;
  /** When to look again, in milliseconds; `again`: there is more to do now. */
  wakeAt: number | 'again';
  /** Items that are decided about now. */
  decided?: readonly string[];
}

/** A publish is under way or waits for a decision: what it publishes may not change. */
const pending: readonly PublicationStatus[] = ['requested', 'parked'];
const over: readonly PublicationStatus[] = ['discarding', 'discarded'];

/** Whether a run can take a message. */
export function hearingOf({ status, closing, header, parent, publication }: RunState): Hearing {
  if (header.planner !== 'model' || parent !== undefined || over.includes(publication)) return 'deaf';
  if (status === 'canceling' || (closing !== undefined && !isTerminal(status))) return 'busy';
  if (!isTerminal(status)) return 'active';
  if (status !== 'succeeded') return 'deaf';
  return pending.includes(publication) ? 'busy' : 'ended';
}
