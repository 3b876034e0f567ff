export * from './chronicle.ts';
export * from './graph-stub.ts';
export * from './sealed-calls.ts';
export * from './temporary-workspace.ts';
