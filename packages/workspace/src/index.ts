export type { Roots } from './bounds/bounds.ts';
export { assertRemote, isNamed } from './bounds/remote-hosts.ts';
export { rootsFrom } from './bounds/roots-from-env.ts';
export { WorkspaceError, type WorkspaceErrorCode } from './errors.ts';
export { openWorkspaces, type WorkspacesOptions } from './open-workspaces.ts';
export type { RemoteAccess, RemoteGit } from './port/remote-git.ts';
export type {
  ContentCheck,
  Materialised,
  PublishRequest,
  Snapshot,
  TreeListing,
  Workspaces,
} from './port/workspaces.ts';
export { checkInputs, namedInputs } from './prepared/input-digest.ts';
export { type Transaction, type TransactionResult, transact } from './run/transact.ts';
