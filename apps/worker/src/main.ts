import { randomBytes } from 'node:crypto';
import { findRunningRedis } from '@holdpoint/embedded-redis';
import { TraceIds } from '@holdpoint/engine';
import { ConfigError, startWorkers } from '@holdpoint/runtime';
import { openSecrets, SecretError, secretSettingsFrom } from '@holdpoint/secrets';
import { LogDrops, logOptions, openDestination, openLogExport, openTelemetryThread } from '@holdpoint/telemetry';
import pino from 'pino';
import { readConfig } from './config.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const secrets = openSecrets(secretSettingsFrom(process.env, config));
  const redact = (line: string) => secrets.logRedactor().text(line);
  const workerId = `${config.host}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const logDrops = new LogDrops();
  const thread = openTelemetryThread({
    service: { name: 'holdpoint-worker', version: config.version, instance: workerId },
    ...{ traces: config.traces, logs: config.logs, metrics: config.metrics.otlp },
  });
  const onDropped = (lines: number, reason: 'queue_full' | 'not_sent'): void => logDrops.add(reason, lines);
  const logExport = openLogExport({ thread, onDropped }, config.logs);
  const traceIds = new TraceIds();
  const logger = pino(
    {
      ...logOptions({ redact, traceOf: (runId) => traceIds.of(runId) }),
      level: config.log,
      base: { app: 'worker', pid: process.pid },
    },
    openDestination(1, { also: logExport?.write, onDropped: () => logDrops.add('unwritable') }),
  );
  const replace = (why: string): void => {
    logger.fatal({ why }, 'this worker ends: another worker takes its place');
    end(1);
  };
  // Before the worker logs that it is ready: a supervisor may send a signal as soon as this line appears.
  const started = findRunningRedis(config).then((address) =>
    startWorkers(config, address, { logger, secrets, workerId, traceIds, logDrops, thread, replace }),
  );
  let ending = false;
  const end = (exitCode: 0 | 1): void => {
    if (ending) return;
    ending = true;
    // Redis may be gone: then the locks expire, and another worker takes over.
    setTimeout(() => process.exit(1), config.drainMs + 10_000).unref();
    const ended = started
      .then((end) => end())
      .then(() => logExport?.stop())
      .then(() => thread.stop());
    ended.then(
      () => process.exit(exitCode),
      (error: unknown) => {
        logger.error({ err: error }, 'the worker did not end cleanly');
        process.exit(1);
      },
    );
  };
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => end(0));
  await started;
}

main().catch((error: unknown) => {
  const described =
    error instanceof ConfigError || error instanceof SecretError ? { message: error.message, next: error.next } : error;
  pino({ ...logOptions(), base: { app: 'worker' } }).fatal({ err: described }, 'the worker could not start');
  process.exit(1);
});
