import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listTenants, runIndexOf } from '../log/index.ts';
import { stateKey } from '../log/keys.ts';
import { type InstallationRecord, readFileRecord, readRedisRecord } from './record.ts';
import type { Sides } from './sides.ts';

/** The record of each side, and the number of runs with data on the side. */
export interface InstallationState {
  dataDir: InstallationRecord & { runs: number };
  redis: InstallationRecord & { runs: number };
}

export async function readInstallation({ redis, dataDir }: Sides): Promise<InstallationState> {
  const [file, stored, known] = await Promise.all([readFileRecord(dataDir), readRedisRecord(redis), countRuns(redis)]);
  return { dataDir: { ...file, runs: (await runsIn(dataDir)).length }, redis: { ...stored, runs: known } };
}

async function countRuns(redis: Sides['redis']): Promise<number> {
  const tenants = await listTenants(redis);
  const counts = await Promise.all(tenants.map((tenant) => redis.zcard(runIndexOf(tenant))));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** How many runs have files in the data directory and no log in this Redis. */
export async function countUnknownRuns({ redis, dataDir }: Sides): Promise<number> {
  let unknown = 0;
  for (const runId of await runsIn(dataDir)) unknown += 1 - (await redis.exists(stateKey(runId)));
  return unknown;
}

/** Whether a data directory has files of runs and no record. Only its Redis can then tell their format. */
export async function hasUnknownFormat(dataDir: string): Promise<boolean> {
  return (await readFileRecord(dataDir)).id === undefined && (await runsIn(dataDir)).length > 0;
}

async function runsIn(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'runs')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.startsWith('run_'));
}
