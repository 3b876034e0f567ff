export { checkoutTree, hashOnly } from './checkout-tree.ts';
export { contentOf, type TreeContent } from './content.ts';
export { indexOf } from './index-file.ts';
export { formerTimes, knownTree } from './known-tree.ts';
export {
  addEmptyFolder,
  assertSnapshot,
  cacheSnapshot,
  hasSnapshot,
  keepRecent,
  knownRoot,
  type LoadedSnapshot,
  loadSnapshot,
  loadTree,
  noteObjects,
  readCommits,
  readManifests,
  type SnapshotCache,
} from './load-snapshot.ts';
export {
  isSameManifest,
  type Manifest,
  readManifest,
  snapshotMessage,
  withLeftOut,
} from './manifest.ts';
export {
  compact,
  gitPermissions,
  isPrivate,
  isSamePermissions,
  keptBits,
  kindOf,
  type Permissions,
  permissionsAt,
} from './permissions.ts';
export { type Listing, readListing } from './read-listing.ts';
export {
  type FoundRepositories,
  isSameRepositories,
  loadRepositories,
  scanRepositories,
  storeRepositories,
} from './repositories.ts';
export { createRunStates, type RunState } from './run-state.ts';
export {
  countKnown,
  deepestFolder,
  isTooDeep,
  modeOf,
  noteFolder,
  openReadable,
  type Scan,
  type ScanLimits,
  scanChildren,
  scanEntry,
  scanListedEntry,
  specialKind,
} from './scan.ts';
export { startScan, trustedStats } from './start-scan.ts';
export { type FileStatus, fileSystemClock, type StatCache } from './stat-cache.ts';
export type { Checkout, KnownTree, MtimeOf } from './write-leaves.ts';
