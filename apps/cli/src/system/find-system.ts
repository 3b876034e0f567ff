import { isAlive } from './process-identity.ts';
import { isOfAnother, readSystemRecord, type SystemRecord } from './system-record.ts';

/** The record of `up` for a data directory, and whether its processes still run. */
export interface FoundSystem {
  record: SystemRecord;
  /** The `up` process runs. Its children may run without `up`, after a kill of `up`. */
  isUp: boolean;
  /** The address of the API, while the API runs and listens. */
  address: string | undefined;
}

/**
 * Finds the system of a data directory. Every command uses this function. The record in a copy of a data directory names the processes of the
 * original, so such a record counts as none.
 *
 * @throws CliError `not_ours`
 */
export function findSystem(dataDir: string): FoundSystem | undefined {
  const record = readSystemRecord(dataDir);
  if (record === undefined || isOfAnother(record, dataDir)) return undefined;
  const api = record.children.find(({ name }) => name === 'api');
  const address = api !== undefined && isAlive(api) ? (record.address ?? undefined) : undefined;
  return { record, isUp: isAlive(record), address };
}
