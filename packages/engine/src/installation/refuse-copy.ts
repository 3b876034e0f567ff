import { copyTexts, originalOf, readInstallation } from '@holdpoint/process/home';
import { isPresentElsewhere } from '@holdpoint/process/presence';
import { type Connections, countOtherConnections } from '../redis/connect.ts';
import { InstallationError } from './error.ts';

/**
 * Refuses a second installation with the same id on this machine: both have the same runs, keys and id, so both would act for each other.
 *
 * @throws InstallationError `installation_copied`
 */
export function refuseCopy(dataDir: string): void {
  const { id } = readInstallation(dataDir);
  const original = originalOf(dataDir);
  if (original !== undefined) throw copied(copyTexts(dataDir, original));
  if (id !== undefined && isPresentElsewhere({ id, dataDir })) throw copied(runningElsewhere(dataDir));
}

const copied = ({ message, next }: { message: string; next: string }): InstallationError =>
  new InstallationError('installation_copied', message, next);

/** The original was moved while running, so its recorded path shows nothing. */
const runningElsewhere = (dataDir: string): { message: string; next: string } => ({
  message: `Programs of this machine work on another data directory of the same installation as ${dataDir}.`,
  next: 'To keep both, give this one an id of its own: `holdpoint adopt --copy`. Otherwise end those programs first (`holdpoint down` on their data directory).',
});

/** @throws InstallationError `installation_in_use` @param again the command to run afterwards */
export async function refuseWhileConnected(connections: Connections, again: string): Promise<void> {
  const others = await countOtherConnections(connections);
  if (others === 0) return;
  throw new InstallationError(
    'installation_in_use',
    `Holdpoint programs have ${others} connections to this Redis.`,
    `End every API and worker (\`holdpoint down\`), then run \`${again}\` again.`,
  );
}
