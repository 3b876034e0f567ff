export { remoteFilesFrom } from './adapters/remote-files.ts';
export { createWorkspacePort } from './adapters/workspace-port.ts';
export { startQueueWorkers } from './jobs/queue-workers.ts';
export { providerRatesSchema } from './model-gate/model-gate.ts';
export { ConfigError, type RuntimeConfig } from './runtime-config.ts';
export { startWorkers } from './start-workers.ts';
export { openWorkerTraces } from './traces/open-worker-traces.ts';
