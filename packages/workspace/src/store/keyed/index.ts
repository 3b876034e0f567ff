export { beginEntry, type EntryBuild } from './begin-entry.ts';
export { createChecks, type Damage } from './checks.ts';
export { entriesOf, groupsOf, newestIn, noteUse, pathsIn } from './entries.ts';
export { evictEntries, evictGroup, measureEntries } from './evict-entries.ts';
export { findDamagedPacks } from './find-damaged-packs.ts';
export { folderOfKind, type Kind } from './kind.ts';
export { removeEntry } from './remove-entry.ts';
export { damageFile, setAside, trashFolder } from './set-aside.ts';
