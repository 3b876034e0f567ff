import { type Connections, countOtherConnections } from '../redis/connect.ts';
import { InstallationError } from './error.ts';

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
