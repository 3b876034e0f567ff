import { fileURLToPath } from 'node:url';
import { type EmbeddedRedis, startEmbeddedRedis } from '../embedded-redis.ts';
import { findRedisBinaries } from '../find-redis-binaries.ts';

const projectDir = fileURLToPath(new URL('../../../..', import.meta.url));

/** The servers on PATH, then the one that the set-up of this checkout unpacked. */
export const installedBinaries = (): Promise<string[]> => findRedisBinaries(process.env.PATH, projectDir);

/** An embedded server on a data directory, with the binaries of this checkout. */
export const startTestRedis = async (dataDir: string): Promise<EmbeddedRedis> =>
  startEmbeddedRedis({ dataDir, binaries: await installedBinaries() });
