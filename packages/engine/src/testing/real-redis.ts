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

interface Options {
  /** An empty Redis to use instead of a new one. */
  server?: { path: string; stop(): Promise<unknown> };
  /** Where the temporary directory is created. A bench needs a real disk. @default memory, where there is a file system for it */
  parent?: string;
}

/** Starts a Redis in a temporary directory, with what the engine needs around it. */
export async function startTestEngine({ server: given, parent }: Options = {}): Promise<TestEngine> {
  const directory = await mkdtemp(join(parent ?? (await memoryDirectory()), 'hp-engine-'));
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
