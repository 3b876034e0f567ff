import { findRedis } from '@holdpoint/embedded-redis';
import { checkDataDirFormat, checkFormat, InstallationError, readInstallation } from '@holdpoint/engine/installation';
import { connect } from '@holdpoint/engine/redis';
import { type Config, commandLine } from '../shell/index.ts';
import { quiet } from '../system/index.ts';
import type { Finding } from './finding.ts';

const name = 'installation';

/** Checks that the data directory and Redis belong together and have the format of this version. Empty when Redis does not answer: `checkRedis` reports that. */
export async function checkInstallation(config: Config): Promise<Finding[]> {
  const { address } = await findRedis(config);
  const connections = connect(address, quiet, { commandMs: 3000 });
  try {
    await checkDataDirFormat(config.dataDir);
    const state = await readInstallation({ redis: connections.state, dataDir: config.dataDir });
    const { dataDir, redis } = state;
    checkFormat(state);
    const isNew = dataDir.id === undefined && redis.id === undefined && dataDir.runs === 0 && redis.runs === 0;
    if (isNew) return [{ name, level: 'ok', text: 'none yet (created at the first start)' }];
    if (dataDir.id !== undefined && dataDir.id === redis.id) {
      return [{ name, level: 'ok', text: `${dataDir.id}, format ${dataDir.format?.data_format}` }];
    }
    const text = `the data directory belongs to ${dataDir.id ?? 'none'}, Redis to ${redis.id ?? 'none'}`;
    const next = `Check REDIS_URL and HOLDPOINT_DATA; ${commandLine('adopt')} shows what each of them holds.`;
    return [{ name, level: 'fail', text, next }];
  } catch (error) {
    if (!(error instanceof InstallationError)) return [];
    return [{ name, level: 'fail', text: error.message, next: error.next }];
  } finally {
    await connections.close();
  }
}
