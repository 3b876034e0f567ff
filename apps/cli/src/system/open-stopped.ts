import { askServer, findRedis, findRedisBinaries, startEmbeddedRedis } from '@holdpoint/embedded-redis';
import { bindInstallation, makeDataDirectory, readInstallation, refuseCopy } from '@holdpoint/engine/installation';
import { type Connections, openRedis, withoutPassword } from '@holdpoint/engine/redis';
import { CliError, type Config, commandLine } from '../shell/index.ts';
import { quiet } from './quiet.ts';
import { findSystem } from './system-record.ts';

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
