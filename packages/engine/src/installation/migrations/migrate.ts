import type { Connections } from '../../redis/connect.ts';
import { checkFormat, checkNumbers } from '../check-format.ts';
import { InstallationError } from '../error.ts';
import { type Format, type InstallationState, readInstallation, writeFileRecord, writeRedisRecord } from '../record.ts';
import { refuseCopy, refuseWhileConnected } from '../refuse-copy.ts';
import type { Sides } from '../watch-history.ts';
import type { Migration } from './migration.ts';
import { migrations } from './migrations.ts';

/**
 * The migrations needed by a pair, in order. Empty when the pair has the current format.
 * @throws InstallationError when no migration can help
 */
export function pendingMigrations(state: InstallationState, known: readonly Migration[] = migrations): Migration[] {
  const { dataDir, redis } = state;
  checkNumbers(state);
  if (dataDir.id !== redis.id) throw notBound();
  try {
    checkFormat(state, known.at(-1)?.to);
    return [];
  } catch (error) {
    const isHelped = error instanceof InstallationError && ['format_older', 'format_unfinished'].includes(error.code);
    if (!isHelped) throw error;
    const oldest = Math.min(...[dataDir, redis].map((side) => side.format?.data_format ?? 0));
    const pending = known.filter(({ from }) => from >= oldest);
    if (pending[0]?.from !== oldest) throw error;
    return pending;
  }
}

/**
 * Brings both sides to the current format. A migration that died continues at the next call: both sides are marked before the migration
 * changes anything, no program starts on a marked side, and the mark goes last.
 *
 * @throws InstallationError also while a program is connected to this Redis
 */
export async function migrate(
  { connections, dataDir }: { connections: Connections; dataDir: string },
  known: readonly Migration[] = migrations,
): Promise<void> {
  const sides = { redis: connections.state, dataDir };
  const state = await readInstallation(sides);
  refuseCopy(dataDir);
  const pending = pendingMigrations(state, known);
  for (const migration of pending) {
    const { from, to } = migration;
    await refuseWhileConnected(connections, 'holdpoint migrate --yes');
    await writeFormat(sides, state.dataDir.id, { data_format: from, migrating_to: to });
    // A program started before the mark is connected by now; a program started after the mark is refused.
    await refuseWhileConnected(connections, 'holdpoint migrate --yes');
    await migration.run(sides);
    await writeFormat(sides, state.dataDir.id, { data_format: to });
  }
}

async function writeFormat({ redis, dataDir }: Sides, id = '', format: Format): Promise<void> {
  await writeRedisRecord(redis, id, format);
  await writeFileRecord(dataDir, id, format);
}

const notBound = (): InstallationError =>
  new InstallationError(
    'installation_mismatch',
    'The data directory and this Redis do not belong to the same installation.',
    'Check REDIS_URL and HOLDPOINT_DATA.',
  );
