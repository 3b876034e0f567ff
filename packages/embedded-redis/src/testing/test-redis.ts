import { fileURLToPath } from 'node:url';
import { type EmbeddedRedis, startEmbeddedRedis } from '../embedded-redis.ts';
import { findRedisBinaries } from '../find-redis-binaries.ts';
import { killWithParent } from './kill-with-parent.ts';

const projectDir = fileURLToPath(new URL('../../../..', import.meta.url));

/** The servers on PATH, then the one that the set-up of this checkout unpacked. */
export const installedBinaries = (): Promise<string[]> => findRedisBinaries(process.env.PATH, projectDir);

/** An embedded server on a data directory, with the binaries of this checkout. It ends with this process. */
export async function startTestRedis(dataDir: string): Promise<EmbeddedRedis> {
  const server = await startEmbeddedRedis({ dataDir, binaries: await installedBinaries() });
  killWithParent(server.pid);
  return server;
}
