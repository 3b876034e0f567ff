import { findRedisBinaries, startEmbeddedRedis } from '@holdpoint/embedded-redis';
import { makeDataDirectory } from '@holdpoint/engine/installation';
import { type Connections, openRedis, withoutPassword } from '@holdpoint/engine/redis';
import { CliError, type Config, commandLine } from '../shell/index.ts';
import { findSystem } from './find-system.ts';
import { quiet } from './quiet.ts';

export interface StoppedRedis extends AsyncDisposable {
  connections: Connections;
  /** A short description without a password. */
  label: string;
}

/**
 * Connects to the Redis of a stopped system. An embedded server is started for this command and stopped again.
 *
 * @throws CliError `not_now` while `up` runs on the data directory
 */
export async function openStopped({ dataDir, redisUrl, path, projectDir }: Config): Promise<StoppedRedis> {
  const system = findSystem(dataDir);
  if (system?.isUp === true) {
    throw new CliError('not_now', `Holdpoint runs on ${dataDir} (process ${system.record.pid}).`, {
      next: `Stop it first: ${commandLine('down')}`,
    });
  }
  if (redisUrl !== undefined) {
    const connections = await openRedis({ address: redisUrl }, quiet);
    const close = () => connections.close();
    return { connections, label: withoutPassword(redisUrl), [Symbol.asyncDispose]: close };
  }
  makeDataDirectory(dataDir);
  const server = await startEmbeddedRedis({ dataDir, binaries: await findRedisBinaries(path, projectDir) });
  const stop = async (): Promise<void> => (server.reused ? undefined : server.stop());
  try {
    const connections = await openRedis({ address: server.path }, quiet);
    const close = () => connections.close().then(stop);
    return { connections, label: 'embedded', [Symbol.asyncDispose]: close };
  } catch (error) {
    await stop();
    throw error;
  }
}
