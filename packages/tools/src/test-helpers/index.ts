export { type AskedGraph, type GraphStub, graphStub } from './graph-stub.ts';
export { type FileChange, type TemporaryWorkspace, temporaryWorkspace } from './temporary-workspace.ts';
