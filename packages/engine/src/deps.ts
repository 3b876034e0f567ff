import type { Redis } from 'ioredis';
import type { Admission } from './admission/admission.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import type { Ceilings } from './domain/ceilings.ts';
import type { OperatorInForce } from './domain/judge-call.ts';
import type { NewId } from './domain/new-id.ts';
import type { OutputStore } from './outputs/output-store.ts';
import type * as ports from './ports/index.ts';
import type { Queues } from './queues/queues.ts';

/** The dependencies of every part of the engine. */
export interface EngineDeps {
  redis: Redis;
  queues: Queues;
  blobs: BlobStore;
  catalog: ports.ToolCatalog;
  logger: ports.Logger;
  newId: NewId;
  /** The operator's current policy. The policy binds every run, in addition to the run's own policy. */
  operatorPolicy?: (() => OperatorInForce | undefined) | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Caps on every run's limits, whatever limits the run was submitted with. */
  ceilings?: Ceilings;
  /** Whether the kernel restricts read-only commands to reading, so that such commands count as reads. @default false */
  walls?: boolean | undefined;
  /** The number of runs that a tenant may have active at once, without sub-agents. @default unlimited */
  activeRuns?: number | undefined;
}

/** A run's workspace is discarded when either bound is passed. An unpublished change set stays. */
export interface Retention {
  /** Days since the run ended. */
  days?: number;
  /** The number of ended runs that keep their workspace, the latest first. */
  runs?: number;
}

/** Additional dependencies of a worker's handlers. */
export interface WorkerDeps extends EngineDeps {
  /** The name of the worker process in events. */
  workerId: string;
  executor: ports.Executor;
  workspaces: ports.WorkspacePort;
  /** Opens the pull requests of publishes. @default none is opened: such a publish fails */
  pullRequests?: ports.PullRequestPort | undefined;
  /** Has the pull request of a run looked at. @default the sweep of the pull requests finds it */
  wakePull?: ((runId: string, at: number) => Promise<void>) | undefined;
  planners: { scripted: ports.Planner; model: ports.Planner };
  /** Kinds of sub-agents. @default none */
  agentKinds?: ports.AgentKinds | undefined;
  /** `provider/model` for the sub-agents and tools of a run without a model. */
  defaultModel?: string | undefined;
  /** The output of background commands. */
  outputs: OutputStore;
  metrics: ports.Metrics;
  /** Decides which runs may begin and continue now. @default all runs */
  admission?: Admission | undefined;
  /** Throws when the connected Redis no longer belongs to this installation. */
  confirmInstallation(): Promise<void>;
  /** When workspaces of ended runs are discarded automatically; without bounds, never. */
  retention: Retention;
}
