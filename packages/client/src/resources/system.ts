import {
  type ApiBounds,
  apiBoundsSchema,
  healthSchema,
  type LogLevelChange,
  type LogLevelReached,
  logLevelReachedSchema,
  type Queue,
  queueListSchema,
  type Readiness,
  readinessSchema,
  type Stuck,
  stuckSchema,
  type Worker,
  workerListSchema,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import type { Options } from './request-parts.ts';

export const systemRequests = ({ ask }: Transport) => ({
  stuck: async ({ signal }: Options = {}): Promise<Stuck> =>
    (await ask({ path: '/v1/stuck', signal }, stuckSchema)).body,

  listWorkers: async ({ signal }: Options = {}): Promise<Worker[]> =>
    (await ask({ path: '/v1/workers', signal }, workerListSchema)).body.data,

  /** The operator's settings for every run, from the API process. */
  getBounds: async ({ signal }: Options = {}): Promise<ApiBounds> =>
    (await ask({ path: '/v1/bounds', signal }, apiBoundsSchema)).body,

  /** Changes the log level of processes until they end. */
  setLogLevel: async (body: LogLevelChange, { signal }: Options = {}): Promise<LogLevelReached> =>
    (await ask({ method: 'PUT', path: '/v1/log-level', body, signal }, logLevelReachedSchema)).body,

  listQueues: async ({ signal }: Options = {}): Promise<Queue[]> =>
    (await ask({ path: '/v1/queues', signal }, queueListSchema)).body.data,

  /** The process is up. */
  async health({ signal }: Options = {}): Promise<void> {
    await ask({ path: '/healthz', signal }, healthSchema);
  },

  /** Redis answers. @throws ApiError `unavailable` when Redis does not answer */
  ready: async ({ signal }: Options = {}): Promise<Readiness> =>
    (await ask({ path: '/readyz', signal }, readinessSchema)).body,
});
