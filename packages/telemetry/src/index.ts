export { logOptions, openDestination } from './log.ts';
export { type EngineMetrics, type RunningTelemetry, startTelemetry, telemetryWanted } from './start-telemetry.ts';
export { startTraces, type Traces } from './traces/start-traces.ts';
export { type TraceSettings, traceSettingsFrom } from './traces/trace-settings.ts';
export { type LoopDelay, type LoopWatch, watchLoop } from './watch-loop.ts';
