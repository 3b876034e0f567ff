export type { Roots } from './bounds/bounds.ts';
export { rootsFrom } from './bounds/roots-from-env.ts';
export { WorkspaceError, type WorkspaceErrorCode } from './errors.ts';
export { openWorkspaces, type WorkspacesOptions } from './open-workspaces.ts';
export type { ContentCheck, Materialised, PublishRequest, Snapshot, TreeListing, Workspaces } from './port.ts';
export { checkInputs, namedInputs } from './prepared/input-digest.ts';
export type { RemoteAccess, RemoteGit } from './remote/port.ts';
export { type Transaction, type TransactionResult, transact } from './transact.ts';
