import { findRedis } from '@holdpoint/embedded-redis';
import * as installation from '@holdpoint/engine/installation';
import { connect } from '@holdpoint/engine/redis';
import { type Config, commandLine } from '../shell/index.ts';
import { quiet } from '../system/index.ts';
import type { Finding } from './finding.ts';

const name = 'installation';

/**
 * Checks the data directory: not a copy, of this Redis, and in the format of this version. Without an answer of Redis (reported by
 * `checkRedis`), the data directory alone is judged.
 */
export async function checkInstallation(config: Config): Promise<Finding[]> {
  const { address } = await findRedis(config);
  const connections = connect(address, quiet, { commandMs: 3000 });
  try {
    installation.refuseCopy(config.dataDir);
    await installation.checkDataDirFormat(config.dataDir);
    const state = await installation.readInstallation({ redis: connections.state, dataDir: config.dataDir });
    const { dataDir, redis } = state;
    installation.checkFormat(state);
    const isNew = dataDir.id === undefined && redis.id === undefined && dataDir.runs === 0 && redis.runs === 0;
    if (isNew) return [{ name, level: 'ok', text: 'none yet (created at the first start)' }];
    if (dataDir.id !== undefined && dataDir.id === redis.id) {
      return [{ name, level: 'ok', text: `${dataDir.id}, format ${dataDir.format?.data_format}` }];
    }
    const text = `the data directory belongs to ${dataDir.id ?? 'none'}, Redis to ${redis.id ?? 'none'}`;
    const next = `Check REDIS_URL and HOLDPOINT_DATA; ${commandLine('adopt')} shows what each of them holds.`;
    return [{ name, level: 'fail', text, next }];
  } catch (error) {
    if (!(error instanceof installation.InstallationError)) return judgeAlone(config.dataDir);
    return [{ name, level: 'fail', text: error.message, next: error.next }];
  } finally {
    await connections.close();
  }
}

async function judgeAlone(dataDir: string): Promise<Finding[]> {
  if (!(await installation.hasUnknownFormat(dataDir))) return [];
  const text = `${dataDir} has files of runs and no file \`installation\`, so its format is unknown`;
  const next = `${commandLine('adopt')} shows whether its Redis has the format number, and what to do without one.`;
  return [{ name, level: 'fail', text, next }];
}
