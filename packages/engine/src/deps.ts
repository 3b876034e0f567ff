import type { Redis } from 'ioredis';
import type { BlobStore } from './blobs/blob-store.ts';
import type { NewId } from './domain/ids.ts';
import type { Executor, Logger, Planner, WorkspacePort } from './ports.ts';
import type { Queues } from './queues/queues.ts';

/** What every part of the engine works with. */
export interface EngineDeps {
  redis: Redis;
  queues: Queues;
  blobs: BlobStore;
  logger: Logger;
  newId: NewId;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** What the handlers of a worker work with beside that. */
export interface WorkerDeps extends EngineDeps {
  /** Names the worker process in events. */
  workerId: string;
  executor: Executor;
  workspaces: WorkspacePort;
  planners: { scripted: Planner; model: Planner };
}
