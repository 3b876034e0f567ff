import type { Worker } from '@holdpoint/client/wire/operation';
import { commandLine } from '../command-name.ts';
import { keyFileOf } from '../connection.ts';
import { tell } from '../report-error.ts';
import type { Shell } from '../shell.ts';
import { isAlive } from '../system/process-identity.ts';
import { readSystemRecord } from '../system/system-record.ts';
import { checkDataDirectory, checkKeyFile } from './check-files.ts';
import { checkInstallation } from './check-installation.ts';
import { checkNode } from './check-node.ts';
import { checkPrograms } from './check-programs.ts';
import { checkRedis } from './check-redis.ts';
import { checkRetention } from './check-retention.ts';
import { checkSandbox } from './check-sandbox.ts';
import { checkStorage } from './check-storage.ts';
import { checkStuck } from './check-stuck.ts';
import type { Finding } from './finding.ts';

/** Everything Holdpoint needs on this machine, one finding per thing. Changes nothing. */
export async function examine(shell: Shell): Promise<Finding[]> {
  const { config } = shell;
  const record = readSystemRecord(config.dataDir);
  const running = record !== undefined && isAlive(record) ? record : undefined;
  const { findings: api, workers } = await askApi(shell, running !== undefined || config.url !== undefined);
  return [
    checkNode(process.versions.node),
    ...(await checkPrograms(config)),
    await checkDataDirectory(config.dataDir),
    await checkStorage(config.dataDir),
    checkRetention(config),
    await checkKeyFile(keyFileOf(config)),
    ...(await checkRedis(config, running !== undefined)),
    ...(await checkInstallation(config)),
    ...(await checkSandbox(config, workers[0]?.capabilities)),
    ...api,
  ];
}

async function askApi(shell: Shell, expected: boolean): Promise<{ findings: Finding[]; workers: Worker[] }> {
  const name = 'api';
  if (!expected) return { findings: [{ name, level: 'ok', text: 'not running (npm start)' }], workers: [] };
  try {
    const client = await shell.connect();
    const workers = await client.listWorkers();
    const stuck = await checkStuck(client);
    if (workers.length > 0)
      return { findings: [{ name, level: 'ok', text: `answers; ${workers.length} workers` }, ...stuck], workers };
    const next = `Start one: npm start, or ${commandLine('worker')} with the same HOLDPOINT_DATA and REDIS_URL.`;
    const silent: Finding = { name, level: 'warn', text: 'answers, but no worker is alive: runs wait', next };
    return { findings: [silent, ...stuck], workers };
  } catch (error) {
    const { message, next } = tell(error);
    return { findings: [{ name, level: 'fail', text: message, ...(next === undefined ? {} : { next }) }], workers: [] };
  }
}
