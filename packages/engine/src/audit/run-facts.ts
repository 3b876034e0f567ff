import {
  type ApprovalStatus,
  type AuditBodyOf,
  defaultTenant,
  type EventOf,
  type Payload,
  type RunEvent,
} from '@holdpoint/contract';

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

type Host = NonNullable<AuditBodyOf<'call'>['hosts']>[number];

interface CallFacts {
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

const noNetwork = (): NetworkFacts => ({ hosts: new Map(), leftOut: 0 });
const mostHosts = 100;

/** Takes an event into the facts, before its record is made. */
export function learn(facts: RunFacts, event: RunEvent): void {
  switch (event.type) {
    case 'run.created':
      facts.tenant = tenantOf(event);
      facts.submittedBy = event.data.created_by;
      facts.toolset = event.data.toolset;
      return;
    case 'run.succeeded':
    case 'run.failed':
    case 'run.canceled':
      facts.hasEnded = true;
      return;
    case 'run.resumed':
    case 'run.rewound':
      facts.hasEnded = false;
      if (event.type === 'run.rewound') facts.snapshot = event.data.snapshot;
      return;
    case 'workspace.materialised':
    case 'workspace.snapshotted':
    case 'workspace.prepared':
    case 'workspace.captured':
    case 'workspace.drifted':
      facts.snapshot = event.data.snapshot;
      return;
    case 'workspace.publish_requested':
      facts.publishBy = event.data.by;
      return;
    case 'task.created':
      learnTask(facts, event);
      return;
    case 'approval.requested':
      facts.approvals.set(event.data.approval_id, event);
      learnApproval(facts, event, 'pending');
      return;
    case 'approval.decided':
      learnApproval(facts, event, statusAfter[event.data.decision]);
      return;
    case 'approval.expired':
      learnApproval(facts, event, 'expired');
      return;
    case 'approval.canceled':
      learnApproval(facts, event, 'canceled');
      return;
    default:
      learnStep(facts, event);
  }
}

const statusAfter = { approve: 'approved', edit: 'edited', reject: 'rejected', respond: 'responded' } as const;

/** Optional in the log: the runs from before there were tenants have none. */
const tenantOf = ({ data }: EventOf<'run.created'>): string =>
  'tenant' in data && typeof data.tenant === 'string' ? data.tenant : defaultTenant;

function learnTask(facts: RunFacts, event: EventOf<'task.created'>): void {
  const call = facts.calls.get(event.step_id);
  call?.tasks.push(event.data.task_id);
  const network = call?.network ?? noNetwork();
  facts.tasks.set(event.data.task_id, { created: event, before: facts.snapshot, network });
}

type ApprovalEvent = EventOf<'approval.requested' | 'approval.decided' | 'approval.expired' | 'approval.canceled'>;

function learnApproval(facts: RunFacts, event: ApprovalEvent, status: ApprovalStatus): void {
  const call = event.step_id === undefined ? undefined : facts.calls.get(event.step_id);
  const { approval_id } = event.data;
  const kind = facts.approvals.get(approval_id)?.data.kind;
  if (call === undefined || kind === undefined) return;
  if (event.type === 'approval.requested') call.verdict ??= { action: 'hold', reason: event.data.reason };
  const decided =
    event.type === 'approval.decided'
      ? { decided_by: { name: event.data.by }, action_digest: event.data.action_digest }
      : {};
  call.approvals.set(approval_id, { approval_id, kind, status, ...decided });
}

function learnStep(facts: RunFacts, event: RunEvent): void {
  if (event.type === 'step.created') {
    facts.calls.set(event.step_id, factsOfCall(facts, event));
    return;
  }
  const call = 'step_id' in event && event.step_id !== undefined ? facts.calls.get(event.step_id) : undefined;
  switch (event.type) {
    case 'step.queued':
      if (call === undefined) return;
      call.verdict ??= { action: 'allow', reason: event.data.reason };
      if (event.data.args !== undefined) {
        call.asked ??= call.args;
        call.args = event.data.args;
      }
      call.effect = event.data.effect ?? call.effect;
      return;
    case 'step.started':
      if (call === undefined) return;
      call.before = facts.snapshot;
      call.attempts.push({ attempt: event.data.attempt, worker: event.data.worker, started_at: event.time });
      return;
    case 'step.retried':
    case 'step.indeterminate':
      if (call?.attempts.length) Object.assign(call.attempts.at(-1) ?? {}, { interrupted: event.data.reason.code });
      return;
    case 'network.connected':
      learnHost(networkOf(facts, event.step_id), { ...event.data, connections: 1 });
      return;
    case 'network.counted':
      for (const count of event.data.counts) learnHost(networkOf(facts, event.step_id), count);
      return;
    default:
  }
}

function factsOfCall(facts: RunFacts, created: EventOf<'step.created'>): CallFacts {
  const { args, effect } = created.data;
  const verdict = 'verdict' in created.data ? toVerdict(created.data.verdict) : undefined;
  return {
    ...{ created, args, effect, verdict, before: facts.snapshot, tasks: [] },
    ...{ approvals: new Map(), attempts: [], network: noNetwork() },
  };
}

/** The verdict recorded by the gate. */
function toVerdict(value: unknown): CallFacts['verdict'] {
  if (typeof value !== 'object' || value === null || !('action' in value)) return undefined;
  const { action } = value;
  return action === 'allow' || action === 'hold' || action === 'deny' ? { ...value, action } : undefined;
}

/** The network facts of the call, or of the background command started by the call. */
const networkOf = (facts: RunFacts, stepId: string): NetworkFacts | undefined =>
  facts.calls.get(stepId)?.network ??
  [...facts.tasks.values()].find(({ created }) => created.step_id === stepId)?.network;

type Seen = Omit<Host, 'reason'> & { reason?: string | undefined };

function learnHost(network: NetworkFacts | undefined, seen: Seen): void {
  if (network === undefined) return;
  const { host, port, verdict, reason } = seen;
  const place = JSON.stringify([host, port, verdict, reason]);
  const known = network.hosts.get(place);
  if (known === undefined && network.hosts.size >= mostHosts) {
    network.leftOut += seen.connections;
    return;
  }
  network.hosts.set(place, {
    ...{ host, port, verdict, reason },
    connections: (known?.connections ?? 0) + seen.connections,
    bytes_up: (known?.bytes_up ?? 0) + seen.bytes_up,
    bytes_down: (known?.bytes_down ?? 0) + seen.bytes_down,
  });
}
