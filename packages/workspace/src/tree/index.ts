export type { Checkout, KnownTree, MtimeOf } from './checkout.ts';
export { checkoutTree, hashOnly } from './checkout-tree.ts';
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
  readManifests,
  type SnapshotCache,
} from './load-snapshot.ts';
export {
  fromSkips,
  isSameManifest,
  isSameSkip,
  type Manifest,
  readManifest,
  type Skipped,
  skippedPaths,
  skipsSchema,
  snapshotMessage,
  toSkips,
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
export { type FileStatus, fileSystemClock, openStatCache, type StatCache } from './stat-cache.ts';
export {
  type Change,
  canonicalMode,
  changesBetween,
  countChanges,
  countLeaves,
  type Entry,
  emptyFolder,
  emptyFolders,
  emptyFoldersSince,
  type Folder,
  find,
  isFolder,
  isLeaf,
  isSame,
  type Leaf,
  leavesOf,
  type Mode,
  modes,
  reuseIfSame,
  sortedLeaves,
  withEntry,
} from './tree.ts';
export { trustedStats } from './trusted-stats.ts';
