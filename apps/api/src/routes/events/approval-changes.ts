import type { LoggedEvent } from '@holdpoint/contract';
import type { ApprovalChange } from '@holdpoint/contract/wire';
import { splitDamaged } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { showDamaged } from '../../errors/to-problem.ts';

/** A stream keeps the places of this many runs. Without the place of a run, it reads the events since a time. */
const mostKept = 1000;

/** The changes of approvals in runs with new events: each at least once, in the order of its run. */
export class ApprovalChanges {
  readonly #deps: Pick<ApiDeps, 'engine' | 'logger'>;
  readonly #places = new Map<string, number>();

  constructor(deps: Pick<ApiDeps, 'engine' | 'logger'>) {
    this.#deps = deps;
  }

  /** @param since milliseconds since the epoch: earlier changes are known to the client */
  async of(runId: string, since: number): Promise<ApprovalChange[]> {
    const place = this.#places.get(runId);
    const from = place === undefined ? { since } : { after: place };
    const { events, seq } = await this.#deps.engine.events.ofApprovals(runId, from);
    this.#keep(runId, seq);
    const { items, damaged } = splitDamaged(events);
    showDamaged(this.#deps, damaged);
    return items.flatMap((event) => toChange(event) ?? []);
  }

  #keep(runId: string, seq: number): void {
    this.#places.delete(runId);
    this.#places.set(runId, seq);
    const [oldest] = this.#places.keys();
    if (this.#places.size > mostKept && oldest !== undefined) this.#places.delete(oldest);
  }
}

const nothing = { by: null, decision: null, risk: null, expires_at: null };

function toChange(event: LoggedEvent): ApprovalChange | undefined {
  switch (event.type) {
    case 'approval.requested': {
      const { risk, expires_at } = event.data;
      return { ...aboutOf(event), change: 'requested', ...nothing, risk, expires_at };
    }
    case 'approval.decided': {
      const { by, decision } = event.data;
      return { ...aboutOf(event), change: 'decided', ...nothing, by, decision };
    }
    case 'approval.voted':
      return { ...aboutOf(event), change: 'voted', ...nothing, by: event.data.by };
    case 'approval.delegated':
      return { ...aboutOf(event), change: 'delegated', ...nothing, by: event.data.from };
    case 'approval.expired':
      return { ...aboutOf(event), change: 'expired', ...nothing };
    case 'approval.canceled':
      return { ...aboutOf(event), change: 'canceled', ...nothing };
    case 'approval.escalated':
      return { ...aboutOf(event), change: 'escalated', ...nothing };
    case 'approval.reminded':
      return { ...aboutOf(event), change: 'reminded', ...nothing };
    case 'approval.preview_requested':
      return { ...aboutOf(event), change: 'preview_requested', ...nothing, by: event.data.by };
    case 'approval.preview_failed':
      return { ...aboutOf(event), change: 'preview_failed', ...nothing };
    default:
      return undefined;
  }
}

type ApprovalEvent = Extract<LoggedEvent, { type: `approval.${string}` }>;

const aboutOf = ({ run_id, step_id, seq, time, data }: ApprovalEvent) => ({
  ...{ approval_id: data.approval_id, run_id, step_id: step_id ?? null, seq, time },
});
