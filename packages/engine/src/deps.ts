import type { Redis } from 'ioredis';
import type { Admission } from './admission/admission.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import type { Ceilings } from './domain/ceilings.ts';
import type { OperatorInForce } from './domain/judge-call.ts';
import type { NewId } from './domain/new-id.ts';
import type { OutputStore } from './outputs/output-store.ts';
import type { AgentKinds, Executor, Logger, Metrics, Planner, ToolCatalog, WorkspacePort } from './ports/index.ts';
import type { Queues } from './queues/queues.ts';

/** What every part of the engine uses. */
export interface EngineDeps {
  redis: Redis;
  queues: Queues;
  blobs: BlobStore;
  catalog: ToolCatalog;
  logger: Logger;
  newId: NewId;
  /** The operator's policy as it is now. It binds every run, in addition to its own policy. */
  operatorPolicy?: (() => OperatorInForce | undefined) | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Bounds of every run's limits, whatever it was submitted with. */
  ceilings?: Ceilings;
  /** Whether commands that only read are kept to it by the kernel, so that they are reads. @default false */
  walls?: boolean | undefined;
  /** Runs that a tenant may have active at once, without their sub-agents. @default unlimited */
  activeRuns?: number | undefined;
}

/** A run's workspace is discarded when either bound is passed. An unpublished change set stays. */
export interface Retention {
  /** Days since the run ended. */
  days?: number;
  /** Ended runs that keep their workspace, the latest first. */
  runs?: number;
}

/** What the handlers of a worker use in addition. */
export interface WorkerDeps extends EngineDeps {
  /** Names the worker process in events. */
  workerId: string;
  executor: Executor;
  workspaces: WorkspacePort;
  planners: { scripted: Planner; model: Planner };
  /** Kinds of sub-agents. @default there are none */
  agentKinds?: AgentKinds | undefined;
  /** `provider/model` for the sub-agents and tools of a run that names no model. */
  defaultModel?: string | undefined;
  /** The output of background commands. */
  outputs: OutputStore;
  metrics: Metrics;
  /** Which runs may begin and continue now. @default all of them */
  admission?: Admission | undefined;
  /** Throws when the Redis behind the connection is not the one of this installation any more. */
  confirmInstallation(): Promise<void>;
  /** When workspaces of ended runs are discarded automatically; without bounds, never. */
  retention: Retention;
}
