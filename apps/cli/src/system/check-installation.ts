import { bindInstallation } from '@holdpoint/engine/installation';
import { connect } from '@holdpoint/engine/redis';
import { quiet } from './quiet.ts';

/**
 * Refuses a Redis that does not belong to the data directory. Checked here because each part would refuse it at every restart.
 *
 * @throws InstallationError
 */
export async function checkInstallation(redisAddress: string, dataDir: string): Promise<void> {
  const connections = connect(redisAddress, quiet);
  try {
    await bindInstallation({ redis: connections.state, dataDir });
  } finally {
    await connections.close();
  }
}
