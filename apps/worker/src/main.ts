import { findRunningRedis } from '@holdpoint/embedded-redis';
import { ConfigError, startWorkers } from '@holdpoint/runtime';
import { openSecrets, SecretError, secretSettingsFrom } from '@holdpoint/secrets';
import { logOptions, openDestination } from '@holdpoint/telemetry';
import pino from 'pino';
import { readConfig } from './config.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const secrets = openSecrets(secretSettingsFrom(process.env, config));
  const redact = (line: string) => secrets.logRedactor().text(line);
  const logger = pino(
    { ...logOptions({ redact }), level: config.log, base: { app: 'worker', pid: process.pid } },
    openDestination(1),
  );
  // Before the worker logs that it is ready: a supervisor may send a signal as soon as it reads that line.
  const started = findRunningRedis(config).then((address) => startWorkers(config, address, { logger, secrets }));
  let ending = false;
  const onSignal = (): void => {
    if (ending) return;
    ending = true;
    // Redis may be gone: then the locks expire, and another worker takes over.
    setTimeout(() => process.exit(1), config.drainMs + 10_000).unref();
    const ended = started.then((end) => end());
    ended.then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'the worker did not end cleanly');
        process.exit(1);
      },
    );
  };
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal);
  await started;
}

main().catch((error: unknown) => {
  const described =
    error instanceof ConfigError || error instanceof SecretError ? { message: error.message, next: error.next } : error;
  pino({ ...logOptions(), base: { app: 'worker' } }).fatal({ err: described }, 'the worker could not start');
  process.exit(1);
});
