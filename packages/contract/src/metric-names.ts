/**
 * Every metric: its name, unit, kind, labels and meaning, once each. `docs/metrics.md` is checked against this table.
 *
 * Names from OpenTelemetry's conventions are unchanged (semantic conventions 1.45.0, GenAI conventions 0.1.0); others
 * begin with `holdpoint.`. Labels never have ids, and each has few values: unknown values become `other`.
 */
export interface Metric {
  /** The name in OTLP. `prometheusName` has the name at `/metrics`. */
  name: string;
  /** UCUM; in braces: the counted things. Empty for 1 and 0: collectors would make a ratio of the unit `1`. */
  unit: string;
  kind: 'counter' | 'gauge' | 'histogram';
  /**
   * The process with the metric. `runs`: the worker that follows the logs; the values come from ended spans. `worker`, `api`: every process
   * of this kind. `process`: both. `system`: the API, about the whole installation.
   */
  source: 'runs' | 'worker' | 'api' | 'process' | 'system';
  labels: readonly string[];
  description: string;
  /** Upper bounds, in `unit`. */
  buckets?: readonly number[];
}

const minute = 60;
const hour = 3600;
const day = 24 * hour;
/** Seconds of a machine's work. */
const quick = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const calls = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, minute, 5 * minute, 30 * minute, 2 * hour];
/** Seconds of work with a possible wait for a person. */
const long = [1, 5, 15, minute, 5 * minute, 15 * minute, hour, 4 * hour, 12 * hour, day, 3 * day, 7 * day];

export const metric = {
  runsEnded: {
    name: 'holdpoint.runs.ended',
    unit: '{run}',
    kind: 'counter',
    source: 'runs',
    labels: ['outcome', 'reason', 'planner'],
    description: 'Runs that ended. `reason`: the code of a failure',
  },
  runDuration: {
    name: 'holdpoint.run.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['outcome', 'planner'],
    description: 'Time from the submit of a run to its end, waits included',
    buckets: long,
  },
  segmentDuration: {
    name: 'holdpoint.run.segment.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['state'],
    description: 'Time that a run was in one state: queued, running, waiting, paused or canceling',
    buckets: long,
  },
  turnDuration: {
    name: 'holdpoint.turn.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['operation'],
    description:
      'Time of one planner decision: of a model, its request and answer (chat), or of a plan or a caller (plan)',
    buckets: calls,
  },
  stepDuration: {
    name: 'holdpoint.step.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['tool', 'outcome'],
    description: 'Time from the plan of a step to its outcome, waits and all attempts included',
    buckets: [0.05, 0.25, 1, 5, 15, minute, 5 * minute, hour, 4 * hour, day, 7 * day],
  },
  attemptDuration: {
    name: 'holdpoint.attempt.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['tool', 'outcome'],
    description:
      'Time of one try at a step, on a worker. Outcomes beside those of a step: lost, retried, deferred, held, indeterminate',
    buckets: calls,
  },
  queueWait: {
    name: 'holdpoint.step.queue.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['tool'],
    description: 'Time that a step waited in a queue until a worker took it',
    buckets: calls,
  },
  decisionDuration: {
    name: 'holdpoint.approval.decision.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['kind', 'decision'],
    description:
      'Time from the request of an approval to its decision. `kind`: action, input, indeterminate, publish, conflict. `decision`: approve, edit, reject, respond, expired, canceled',
    buckets: long,
  },
  taskDuration: {
    name: 'holdpoint.task.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['kind', 'outcome'],
    description: 'Time of a background command (shell) or a sub-agent (agent)',
    buckets: calls,
  },
  publishDuration: {
    name: 'holdpoint.publish.duration',
    unit: 's',
    kind: 'histogram',
    source: 'runs',
    labels: ['outcome'],
    description: 'Time from the request of a publish to its outcome, waits for people included',
    buckets: long,
  },
  tokens: {
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    kind: 'histogram',
    source: 'runs',
    labels: ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.token.type'],
    description: 'Tokens of one model answer: input or output',
    buckets: [1, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576],
  },
  cost: {
    name: 'holdpoint.model.cost.usd',
    unit: '{USD}',
    kind: 'counter',
    source: 'runs',
    labels: ['gen_ai.provider.name', 'gen_ai.request.model'],
    description: 'Cost of the models in US dollars, where the price is known',
  },
  cachedTokens: {
    name: 'holdpoint.model.cached_input_tokens',
    unit: '{token}',
    kind: 'counter',
    source: 'runs',
    labels: ['gen_ai.provider.name', 'gen_ai.request.model'],
    description: 'Input tokens that providers read from their caches. They are part of the input tokens',
  },
  compactions: {
    name: 'holdpoint.context.compactions',
    unit: '{compaction}',
    kind: 'counter',
    source: 'runs',
    labels: ['gen_ai.provider.name', 'gen_ai.request.model', 'outcome'],
    description:
      'Requests for a summary of a long conversation: succeeded or failed. Cut results ask no model and do not count',
  },
  gateVerdicts: {
    name: 'holdpoint.gate.verdicts',
    unit: '{step}',
    kind: 'counter',
    source: 'runs',
    labels: ['tool', 'verdict'],
    description: 'Steps by the verdict of the gate: allow, hold or deny',
  },

  firstToken: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    unit: 's',
    kind: 'histogram',
    source: 'worker',
    labels: ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'],
    description: 'Time from a request to a model until the first part of its streamed answer',
    buckets: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  modelDuration: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    kind: 'histogram',
    source: 'worker',
    labels: ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'error.type'],
    description: 'Time of one request to a model. Those that failed have the code of the error in `error.type`',
    buckets: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  sandboxSetup: {
    name: 'holdpoint.sandbox.setup.duration',
    unit: 's',
    kind: 'histogram',
    source: 'worker',
    labels: ['kind'],
    description: 'Time from the call of a command until it begins inside its sandbox',
    buckets: quick,
  },
  workspaceDuration: {
    name: 'holdpoint.workspace.operation.duration',
    unit: 's',
    kind: 'histogram',
    source: 'worker',
    labels: ['operation', 'outcome'],
    description:
      'Time of an operation on files: materialise, fork, snapshot, compare, inspect, restore, take_over, merge, plan_publish, publish, discard. `outcome`: ok or error',
    buckets: quick,
  },
  validateDuration: {
    name: 'holdpoint.publish.validator.duration',
    unit: 's',
    kind: 'histogram',
    source: 'worker',
    labels: ['outcome'],
    description: 'Time of one validator before a publish: passed, failed, timed_out, killed or error',
    buckets: calls,
  },
  egressConnections: {
    name: 'holdpoint.egress.connections',
    unit: '{connection}',
    kind: 'counter',
    source: 'worker',
    labels: ['verdict', 'reason'],
    description: 'Connections of runs to the outside: allowed, refused or failed. `reason`: the code of the refusal',
  },
  egressBytes: {
    name: 'holdpoint.egress.io',
    unit: 'By',
    kind: 'counter',
    source: 'worker',
    labels: ['direction'],
    description: 'Bytes of these connections: up or down',
  },
  slots: {
    name: 'holdpoint.worker.slots',
    unit: '{job}',
    kind: 'gauge',
    source: 'worker',
    labels: ['queue'],
    description: 'Jobs that this worker may run at once',
  },
  slotsUsed: {
    name: 'holdpoint.worker.slots.used',
    unit: '{job}',
    kind: 'gauge',
    source: 'worker',
    labels: ['queue'],
    description: 'Jobs that this worker runs now; a quarter more than its slots when tenants share them',
  },
  workerHeld: {
    name: 'holdpoint.worker.held',
    unit: '',
    kind: 'gauge',
    source: 'worker',
    labels: ['reason'],
    description: '1 while this worker takes no jobs: the disk has no space (space), or Redis refuses writes (redis)',
  },
  stalled: {
    name: 'holdpoint.jobs.stalled',
    unit: '{job}',
    kind: 'counter',
    source: 'worker',
    labels: ['queue'],
    description: 'Jobs whose worker fell silent. Another worker takes them',
  },
  stuckHandlers: {
    name: 'holdpoint.handlers.stuck',
    unit: '{job}',
    kind: 'counter',
    source: 'worker',
    labels: ['queue'],
    description: 'Jobs whose handler ignored its abort for 10 s. Their places were given back',
  },
  repairs: {
    name: 'holdpoint.repairs',
    unit: '{repair}',
    kind: 'counter',
    source: 'worker',
    labels: ['class'],
    description: 'Stuck runs, steps and tasks that the sweep repaired, by class',
  },
  auditLosses: {
    name: 'holdpoint.audit.losses',
    unit: '{run}',
    kind: 'counter',
    source: 'worker',
    labels: [],
    description:
      'Runs that lost events because Redis went back to an earlier time, as this worker found and recorded them in the audit log',
  },
  sandboxIsolated: {
    name: 'holdpoint.sandbox.isolated',
    unit: '',
    kind: 'gauge',
    source: 'worker',
    labels: [],
    description: '1: the sandbox of this worker enforces every bound; 0: it has a gap, or there is none',
  },
  sandboxSpares: {
    name: 'holdpoint.sandbox.spares',
    unit: '{sandbox}',
    kind: 'gauge',
    source: 'worker',
    labels: [],
    description: 'Sandboxes that this worker has prepared for the next command of a run',
  },
  follower: {
    name: 'holdpoint.follower.active',
    unit: '',
    kind: 'gauge',
    source: 'worker',
    labels: [],
    description: '1 in the one worker that follows the logs for traces and for the metrics of runs',
  },

  httpDuration: {
    name: 'http.server.request.duration',
    unit: 's',
    kind: 'histogram',
    source: 'api',
    labels: ['http.request.method', 'http.route', 'http.response.status_code'],
    description: 'Time of a request to the API. Streams are not in it',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  deliveries: {
    name: 'holdpoint.deliveries',
    unit: '{request}',
    kind: 'counter',
    source: 'api',
    labels: ['kind', 'outcome'],
    description:
      'Requests to receivers of events. `outcome`: delivered, event_failed (this event was refused), receiver_failed, gone',
  },
  deliveryDuration: {
    name: 'holdpoint.delivery.duration',
    unit: 's',
    kind: 'histogram',
    source: 'api',
    labels: ['kind'],
    description: 'Time of a request to a receiver of events',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  },
  receivers: {
    name: 'holdpoint.receivers',
    unit: '{receiver}',
    kind: 'gauge',
    source: 'system',
    labels: ['kind', 'state'],
    description: 'Receivers of events by state: active, failing, off',
  },
  deliveriesPending: {
    name: 'holdpoint.deliveries.pending',
    unit: '{run}',
    kind: 'gauge',
    source: 'system',
    labels: ['kind'],
    description: 'Runs with events that wait for a receiver, summed over the receivers',
  },
  streamClients: {
    name: 'holdpoint.stream.clients',
    unit: '{client}',
    kind: 'gauge',
    source: 'api',
    labels: [],
    description: 'Clients that read an event stream now',
  },

  loopDelay: {
    name: 'holdpoint.event_loop.delay',
    unit: 's',
    kind: 'gauge',
    source: 'process',
    labels: ['kind'],
    description: 'The worst delay of the event loop in the last minute: all of it (late), and computing alone (busy)',
  },
  cpu: {
    name: 'process.cpu.time',
    unit: 's',
    kind: 'counter',
    source: 'process',
    labels: ['cpu.mode'],
    description: 'Processor time of this process: user or system',
  },
  memory: {
    name: 'process.memory.usage',
    unit: 'By',
    kind: 'gauge',
    source: 'process',
    labels: [],
    description: 'Resident memory of this process',
  },
  uptime: {
    name: 'process.uptime',
    unit: 's',
    kind: 'gauge',
    source: 'process',
    labels: [],
    description: 'Time since this process began',
  },
  dropped: {
    name: 'holdpoint.telemetry.dropped',
    unit: '{item}',
    kind: 'counter',
    source: 'process',
    labels: ['signal', 'reason'],
    description:
      'Telemetry that was lost, never anything else: spans, metrics or logs. `reason`: queue_full (the receiver is too slow) or not_sent (it refused them, or is gone)',
  },

  runs: {
    name: 'holdpoint.runs',
    unit: '{run}',
    kind: 'gauge',
    source: 'system',
    labels: ['state', 'reason'],
    description:
      'Runs by state: queued, running, waiting, paused, canceling, ended. `reason`: what a waiting run waits for (approval, task, calls, model), or why a run is paused',
  },
  approvalsPending: {
    name: 'holdpoint.approvals.pending',
    unit: '{approval}',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Approvals that wait for a decision',
  },
  runsPausedOldest: {
    name: 'holdpoint.runs.paused.oldest.age',
    unit: 's',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Time since anything was recorded about the paused run that has stood longest; 0: none is paused',
  },
  approvalsOldest: {
    name: 'holdpoint.approvals.oldest.age',
    unit: 's',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Age of the oldest approval that waits; 0: none waits',
  },
  approvalsExpiry: {
    name: 'holdpoint.approvals.expiry',
    unit: 's',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Time until the first approval that waits expires; absent: none expires',
  },
  queueJobs: {
    name: 'holdpoint.queue.jobs',
    unit: '{job}',
    kind: 'gauge',
    source: 'system',
    labels: ['queue', 'state'],
    description: 'Jobs of each queue: backlog, active, parked',
  },
  workers: {
    name: 'holdpoint.workers',
    unit: '{worker}',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Workers that are alive',
  },
  workersSlots: {
    name: 'holdpoint.workers.slots',
    unit: '{job}',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Steps that all living workers may run at once',
  },
  places: {
    name: 'holdpoint.places',
    unit: '{run}',
    kind: 'gauge',
    source: 'system',
    labels: ['kind'],
    description: 'Runs that may be in progress at once: those that work on their files, and those that ask a model',
  },
  placesUsed: {
    name: 'holdpoint.places.used',
    unit: '{run}',
    kind: 'gauge',
    source: 'system',
    labels: ['kind'],
    description: 'Runs in progress: those that work on their files, and those that ask a model',
  },
  placesWaiting: {
    name: 'holdpoint.places.waiting',
    unit: '{run}',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Runs that stand in line for a place',
  },
  periodicAge: {
    name: 'holdpoint.periodic.age',
    unit: 's',
    kind: 'gauge',
    source: 'system',
    labels: ['work'],
    description: 'Time since periodic work was last done: sweep or maintenance',
  },
  auditLag: {
    name: 'holdpoint.audit.lag',
    unit: 's',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Age of the first event that the audit log does not cover yet; 0: it covers all',
  },
  redisUp: {
    name: 'holdpoint.redis.up',
    unit: '',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: '1: Redis answers. When it is 0, the other metrics about the whole installation are absent',
  },
  redisWritable: {
    name: 'holdpoint.redis.writable',
    unit: '',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: '1: Redis takes writes',
  },
  redisMemory: {
    name: 'holdpoint.redis.memory.used',
    unit: 'By',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Memory that Redis uses',
  },
  redisMemoryLimit: {
    name: 'holdpoint.redis.memory.limit',
    unit: 'By',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'The maxmemory of Redis; absent: it has none',
  },
  logSize: {
    name: 'holdpoint.log.size',
    unit: 'By',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Memory of the data in Redis: the logs of runs, their states and the queues',
  },
  aofEnabled: {
    name: 'holdpoint.redis.aof.enabled',
    unit: '',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: '1: Redis writes an append-only file',
  },
  aofOk: {
    name: 'holdpoint.redis.aof.ok',
    unit: '',
    kind: 'gauge',
    source: 'system',
    labels: ['operation'],
    description: '1: the last write, or the last rewrite, of the append-only file succeeded',
  },
  aofSize: {
    name: 'holdpoint.redis.aof.size',
    unit: 'By',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Size of the append-only file',
  },
  aofDelayed: {
    name: 'holdpoint.redis.aof.delayed_fsyncs',
    unit: '{fsync}',
    kind: 'counter',
    source: 'system',
    labels: [],
    description: 'Writes of Redis that waited for a slow disk',
  },
  dataSize: {
    name: 'holdpoint.data.size',
    unit: 'By',
    kind: 'gauge',
    source: 'system',
    labels: ['part'],
    description:
      'Bytes of the data directory by part: blobs, workspaces, outputs, audit. Measured slowly in the background; absent until it was measured once',
  },
  diskFree: {
    name: 'holdpoint.disk.free',
    unit: 'By',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'Free space on the disk of the data directory',
  },
  diskFloor: {
    name: 'holdpoint.disk.floor',
    unit: 'By',
    kind: 'gauge',
    source: 'system',
    labels: [],
    description: 'What must stay free: below it no new runs are accepted',
  },
} as const satisfies Record<string, Metric>;

export type MetricKey = keyof typeof metric;

/** Suffixes of units, as the OpenTelemetry collector and Prometheus add them to names. */
const suffixes: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/** The name at `/metrics`: `holdpoint_step_duration_seconds`. A counter ends in `_total`; a histogram has `_bucket`, `_sum` and `_count`. */
export function prometheusName({ name, unit, kind }: Pick<Metric, 'name' | 'unit' | 'kind'>): string {
  const base = `${name.replaceAll(/[^a-zA-Z0-9]+/g, '_')}${suffixes[unit] ?? ''}`;
  return kind === 'counter' ? `${base}_total` : base;
}

/** The name of a label at `/metrics`: `gen_ai_request_model`. */
export const prometheusLabel = (label: string): string => label.replaceAll(/[^a-zA-Z0-9]+/g, '_');
