import type { AuditBodyOf, EventOf, Payload, RunEvent } from '@holdpoint/contract';
import { defaultTenant } from '@holdpoint/contract/names';

/** The facts about a run which a record needs in addition to its own event. Folded from the run's log; settled calls are dropped. */
export interface RunFacts {
  tenant: string;
  submittedBy: string;
  toolset: string;
  snapshot: string | null;
  publishBy?: string;
  hasEnded: boolean;
  calls: Map<string, CallFacts>;
  tasks: Map<string, TaskFacts>;
  approvals: Map<string, EventOf<'approval.requested'>>;
}

export type Host = NonNullable<AuditBodyOf<'call'>['hosts']>[number];

export interface CallFacts {
  created: EventOf<'step.created'>;
  args: Payload;
  asked?: Payload;
  effect: AuditBodyOf<'call'>['effect'];
  verdict?: AuditBodyOf<'call'>['verdict'];
  approvals: Map<string, NonNullable<AuditBodyOf<'call'>['approvals']>[number]>;
  attempts: AuditBodyOf<'call'>['attempts'];
  before: string | null;
  tasks: string[];
  network: NetworkFacts;
}

export interface NetworkFacts {
  hosts: Map<string, Host>;
  leftOut: number;
}

interface TaskFacts {
  created: EventOf<'task.created'>;
  before: string | null;
  /** Connections of a background command follow when its call has settled. */
  network: NetworkFacts;
}

export const noFacts = (): RunFacts => ({
  ...{ tenant: defaultTenant, submittedBy: '', toolset: '', snapshot: null, hasEnded: false },
  ...{ calls: new Map(), tasks: new Map(), approvals: new Map() },
});

/** The members that all records about an event share. */
export const ofRun = (facts: RunFacts, { run_id, type }: RunEvent) => ({
  ...{ run_id, event: type, submitted_by: { name: facts.submittedBy } },
});

/** The members that all records about the end of a publish share. */
export const ofPublish = (facts: RunFacts, event: RunEvent) => ({
  ...{ kind: 'publish' as const, ...ofRun(facts, event) },
  ...(facts.publishBy !== undefined && { requested_by: { name: facts.publishBy } }),
});
