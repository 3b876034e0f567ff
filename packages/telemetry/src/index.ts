export { logOptions, openDestination } from './log.ts';
export { type EngineMetrics, type RunningTelemetry, startTelemetry, telemetryWanted } from './start-telemetry.ts';
export { type LoopDelay, type LoopWatch, watchLoop } from './watch-loop.ts';
