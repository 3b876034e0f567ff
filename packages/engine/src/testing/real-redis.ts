import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { memoryDirectory, startTestRedis } from '@holdpoint/embedded-redis/testing';
import pino from 'pino';
import { openBlobStore } from '../blobs/blob-store.ts';
import type { EngineDeps } from '../deps.ts';
import { newId } from '../domain/new-id.ts';
import { openQueues } from '../queues/queues.ts';
import { connect } from '../redis/connect.ts';

export interface TestEngine {
  /** All but the tools. */
  deps: Omit<EngineDeps, 'catalog'>;
  /** The socket of its Redis. */
  address: string;
  directory: string;
  stop(): Promise<void>;
}

/**
 * A Redis of its own in a temporary directory, and what the engine needs around it.
 * @param given an empty Redis to use instead
 */
export async function startTestEngine(given?: { path: string; stop(): Promise<unknown> }): Promise<TestEngine> {
  const directory = await mkdtemp(join(await memoryDirectory(), 'hp-engine-'));
  const server = given ?? (await startTestRedis(directory));
  const logger = pino({ level: 'silent' });
  const connections = connect(server.path, logger);
  const queues = openQueues(connections.state, Date.now);
  return {
    deps: {
      redis: connections.state,
      queues,
      blobs: openBlobStore(join(directory, 'blobs')),
      logger,
      newId,
      now: Date.now,
    },
    address: server.path,
    directory,
    async stop() {
      await queues.close();
      await connections.close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
