import { InstallationError } from './error.ts';
import { dataFormat } from './migrations/migrations.ts';
import { type InstallationRecord, type InstallationState, readFileRecord } from './record.ts';

/**
 * Checks the format of every side with a record: this version must be able to read the format.
 * @throws InstallationError `format_missing`, `format_older`, `format_newer`, `format_unfinished`, `format_mismatch`
 */
export function checkFormat(state: InstallationState, current = dataFormat): void {
  checkNumbers(state);
  checkSameFormat(state);
  checkSides({ 'The data directory': state.dataDir, Redis: state.redis }, current);
}

/**
 * Checks whether all data has a number. When a data directory has lost its `installation` file, its format is the format of its Redis:
 * Redis keeps its record with its runs.
 *
 * @throws InstallationError `format_missing`
 */
export function checkNumbers({ dataDir, redis }: InstallationState): void {
  if (dataDir.id !== undefined && dataDir.format === undefined) throw formatMissing('The data directory');
  if (redis.format === undefined && (redis.id !== undefined || redis.runs > 0)) throw formatMissing('Redis');
  if (dataDir.id === undefined && dataDir.runs > 0 && redis.id === undefined) throw formatMissing('The data directory');
}

/** @throws InstallationError `format_mismatch` */
export function checkSameFormat({ dataDir, redis }: Record<'dataDir' | 'redis', InstallationRecord>): void {
  const [inFiles, inRedis] = [dataDir.format, redis.format];
  const isMigrating = (inFiles?.migrating_to ?? inRedis?.migrating_to) !== undefined;
  if (inFiles && inRedis && inFiles.data_format !== inRedis.data_format && !isMigrating) {
    throw mismatch(inFiles.data_format, inRedis.data_format);
  }
}

/** The same for a data directory alone, before any program is started on the directory. */
export async function checkDataDirFormat(dataDir: string): Promise<void> {
  checkSides({ [`The data directory ${dataDir}`]: await readFileRecord(dataDir) }, dataFormat);
}

function checkSides(sides: Record<string, InstallationRecord>, current: number): void {
  const bound = Object.entries(sides).flatMap(([side, { id, format }]) => (id === undefined ? [] : [{ side, format }]));
  const found = bound.map(({ side, format }) => {
    if (format === undefined) throw formatMissing(side);
    return { side, number: format.data_format, target: format.migrating_to };
  });
  for (const { side, number, target = 0 } of found) {
    if (Math.max(number, target) > current) throw newer(side, Math.max(number, target), current);
  }
  for (const { side, number, target } of found) if (target !== undefined) throw unfinished(side, number, target);
  for (const { side, number } of found) if (number < current) throw older(side, number, current);
}

export const formatMissing = (side: string): InstallationError =>
  new InstallationError(
    'format_missing',
    `${side} has no format number: a version from before the numbers made it, and no migration exists for it.`,
    'Publish or note what you need with the version that made it. Then set HOLDPOINT_DATA to a new directory, and REDIS_URL, if you use it, to an empty Redis.',
  );

const newer = (side: string, found: number, current: number): InstallationError =>
  new InstallationError(
    'format_newer',
    `${side} has format ${found}: a newer version made it. This version reads format ${current}.`,
    'Start the newer version, or choose another data directory.',
  );

const older = (side: string, found: number, current: number): InstallationError =>
  new InstallationError(
    'format_older',
    `${side} has format ${found}. This version reads format ${current}.`,
    'Back up the data directory and Redis, then run `holdpoint migrate --yes`.',
  );

const unfinished = (side: string, found: number, target: number): InstallationError =>
  new InstallationError(
    'format_unfinished',
    `${side} is between the formats ${found} and ${target}: a migration was not finished.`,
    'Run `holdpoint migrate --yes` again: it continues.',
  );

const mismatch = (inFiles: number, inRedis: number): InstallationError =>
  new InstallationError(
    'format_mismatch',
    `The data directory has format ${inFiles} and Redis has format ${inRedis}: only one of them was restored.`,
    'Restore both from the same backup.',
  );
