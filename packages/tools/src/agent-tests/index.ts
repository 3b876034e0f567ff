export { type Chronicle, type ChronicleCall, chronicle } from './chronicle.ts';
export { type AskedGraph, type GraphStub, graphStub } from './graph-stub.ts';
export { type SealedLog, sealedCalls } from './sealed-calls.ts';
export { type FileChange, type TemporaryWorkspace, temporaryWorkspace } from './temporary-workspace.ts';
