export { logOptions, openDestination } from './log.ts';
export { boundLabel } from './metrics/bound-label.ts';
export { type Metrics, noMetrics } from './metrics/metrics.ts';
export { type MetricsSettings, metricsSettingsFrom } from './metrics/metrics-setting.ts';
export { observeProcess } from './metrics/observe-process.ts';
export { MetricsPlaceError, type MetricsServer, serveMetrics } from './metrics/serve-metrics.ts';
export { startMetrics } from './metrics/start-metrics.ts';
export { type RunningTelemetry, startTelemetry, telemetryWanted } from './start-telemetry.ts';
export { type LoopDelay, type LoopWatch, watchLoop } from './watch-loop.ts';
