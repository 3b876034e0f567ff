/** Names and functions without schemas. A thread with this import alone has 20 MB less than a thread with the schemas. */
export * from './default-tenant.ts';
export * from './gen-ai-model.ts';
export * from './id-prefixes.ts';
export * from './image-header.ts';
export * from './metric-names.ts';
export * from './telemetry-names.ts';
export * from './traceparent.ts';
