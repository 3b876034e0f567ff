import { flushCompileCache } from 'node:module';
import { TraceIds } from '@holdpoint/engine';
import { LogDrops, openDestination, openLogExport, openTelemetryThread } from '@holdpoint/telemetry';
import manifest from '../package.json' with { type: 'json' };
import { readConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { startApi } from './start.ts';

/** The API process. A single line on standard output has the address; SIGTERM, SIGINT and SIGHUP shut it down. */
try {
  const config = readConfig(process.env);
  const drops = new LogDrops();
  const thread = openTelemetryThread({
    service: { name: 'holdpoint-api', version: manifest.version },
    ...{ traces: config.traces, logs: config.logs, metrics: config.metrics?.otlp },
  });
  const onDropped = (lines: number, reason: 'queue_full' | 'not_sent'): void => drops.add(reason, lines);
  const logExport = openLogExport({ thread, onDropped }, config.logs);
  const traceIds = new TraceIds();
  const destination = openDestination(2, { also: logExport?.write, onDropped: () => drops.add('unwritable') });
  const logger = createLogger(config, destination, (runId) => traceIds.of(runId));
  const api = await startApi(config, logger, { traceIds, logDrops: drops, thread });
  const end = async (name: string): Promise<void> => {
    logger.info({ signal: name }, 'ending');
    await api.close();
    logger.info('ended');
    await logExport?.stop();
    await thread.stop();
    process.exit();
  };
  // Before the address is printed: a supervisor may send a signal as soon as the address appears.
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(name, () => void end(name));
  process.stdout.write(`${JSON.stringify({ event: 'listening', address: api.address })}\n`);
  logger.info({ address: api.address }, 'listening');
  // Flush now: the process may be killed later. No-op without NODE_COMPILE_CACHE.
  flushCompileCache();
} catch (error) {
  const next = error instanceof Error && 'next' in error ? ` ${String(error.next)}` : '';
  process.stderr.write(`holdpoint api: ${error instanceof Error ? error.message : String(error)}${next}\n`);
  process.exitCode = 1;
}
