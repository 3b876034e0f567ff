import { join } from 'node:path';
import { openBlobStore } from '@holdpoint/engine';
import { connect } from '@holdpoint/engine/redis';
import { assertSoundVerdicts } from '@holdpoint/engine/testing';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { pino } from 'pino';

/** Judges every recorded call of a system again. A test with deliberately damaged data has unreadable runs. */
export async function replayEveryRun(address: string, dataDir: string): Promise<void> {
  const connections = connect(address, pino({ level: 'silent' }));
  const deps = {
    redis: connections.state,
    blobs: openBlobStore(join(dataDir, 'blobs')),
    catalog: createRegistry(everyToolset),
  };
  try {
    await assertSoundVerdicts(deps);
  } catch (error) {
    if (!(error instanceof Error) || error.message.startsWith('a replay differs')) throw error;
  } finally {
    await connections.close();
  }
}
