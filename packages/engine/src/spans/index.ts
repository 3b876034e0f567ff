export type { ContentRedactor } from './content.ts';
export { spanIdOf, spanKeys, traceIdOf, traceOfCaller } from './ids.ts';
export type { TraceState } from './trace-state.ts';
