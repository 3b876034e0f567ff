import { flushCompileCache } from 'node:module';
import { readConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { startApi } from './start.ts';

/** The API process. Its one line on standard output says where it listens; SIGTERM, SIGINT or SIGHUP ends it in good order. */
try {
  const config = readConfig(process.env);
  const logger = createLogger(config);
  const api = await startApi(config, logger);
  const end = async (name: string): Promise<void> => {
    logger.info({ signal: name }, 'ending');
    await api.close();
    logger.info('ended');
  };
  // Before it says where it listens: a supervisor may send a signal as soon as it reads that.
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(name, () => void end(name));
  process.stdout.write(`${JSON.stringify({ event: 'listening', address: api.address })}\n`);
  logger.info({ address: api.address }, 'listening');
  // Now, for it may never end in good order. Nothing where no cache is set.
  flushCompileCache();
} catch (error) {
  const next = error instanceof Error && 'next' in error ? ` ${String(error.next)}` : '';
  process.stderr.write(`holdpoint api: ${error instanceof Error ? error.message : String(error)}${next}\n`);
  process.exitCode = 1;
}
