import { askServer, findRedis } from '@holdpoint/embedded-redis';
import { bindInstallation, readInstallation, refuseCopy } from '@holdpoint/engine/installation';
import { openRedis, withoutPassword } from '@holdpoint/engine/redis';
import type { Config } from '../shell/index.ts';
import { openStopped, type StoppedRedis } from './open-stopped.ts';
import { quiet } from './quiet.ts';

const answerMs = 3000;

/**
 * Connects to the Redis of the data directory without the API, whether the system runs or not.
 *
 * @throws InstallationError when the two do not belong together
 */
export async function openHere(config: Config): Promise<StoppedRedis> {
  refuseCopy(config.dataDir);
  const { address, embedded } = await findRedis(config);
  const isAbsent = embedded && (await askServer(address, { timeoutMs: answerMs })) === 'absent';
  const opened = isAbsent ? await openStopped(config) : await openRunning(address);
  const sides = { redis: opened.connections.state, dataDir: config.dataDir };
  try {
    const { dataDir, redis } = await readInstallation(sides);
    if (dataDir.id !== redis.id) await bindInstallation(sides);
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

async function openRunning(address: string): Promise<StoppedRedis> {
  const connections = await openRedis({ address }, quiet);
  return { connections, label: withoutPassword(address), [Symbol.asyncDispose]: () => connections.close() };
}
