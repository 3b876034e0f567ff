import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import type { Options } from './request-parts.ts';

export const systemRequests = ({ ask }: Transport) => ({
  stuck: async ({ signal }: Options = {}): Promise<wire.Stuck> =>
    (await ask({ path: '/v1/stuck', signal }, wire.stuckSchema)).body,

  listWorkers: async ({ signal }: Options = {}): Promise<wire.Worker[]> =>
    (await ask({ path: '/v1/workers', signal }, wire.workerListSchema)).body.data,

  /** The operator's settings for every run, from the API process. */
  getBounds: async ({ signal }: Options = {}): Promise<wire.ApiBounds> =>
    (await ask({ path: '/v1/bounds', signal }, wire.apiBoundsSchema)).body,

  /** Changes the log level of processes until they end. */
  setLogLevel: async (body: wire.LogLevelChange, { signal }: Options = {}): Promise<wire.LogLevelReached> =>
    (await ask({ method: 'PUT', path: '/v1/log-level', body, signal }, wire.logLevelReachedSchema)).body,

  listQueues: async ({ signal }: Options = {}): Promise<wire.Queue[]> =>
    (await ask({ path: '/v1/queues', signal }, wire.queueListSchema)).body.data,

  /** The process is up. */
  async health({ signal }: Options = {}): Promise<void> {
    await ask({ path: '/healthz', signal }, wire.healthSchema);
  },

  /** Redis answers. @throws ApiError `unavailable` when Redis does not answer */
  ready: async ({ signal }: Options = {}): Promise<wire.Readiness> =>
    (await ask({ path: '/readyz', signal }, wire.readinessSchema)).body,
});
