export { beginEntry, type EntryBuild, removeEntry } from './begin-entry.ts';
export { createChecks, type Damage } from './checks.ts';
export {
  damageFile,
  entriesOf,
  folderOfKind,
  groupsOf,
  type Kind,
  newestIn,
  noteUse,
  pathsIn,
  setAside,
  trashFolder,
} from './entries.ts';
export { evictEntries, evictGroup, measureEntries } from './evict-entries.ts';
export { findDamagedPacks } from './find-damaged-packs.ts';
