export { syncOpen, syncPath, writeAll, writeDurably, writeSynced } from '@holdpoint/process/durable-files';
export { assertFreeSpace } from './free-space.ts';
export { linkFile } from './link-file.ts';
export {
  type Directory,
  deniesOwner,
  type EntryKind,
  entriesIn,
  namesIn,
  openChain,
  openChild,
  openDeniedFile,
  openDeniedFolder,
  openForOwner,
  openTop,
  openTree,
  statIn,
} from './open-directory.ts';
export {
  type BytePath,
  fromPlain,
  fromText,
  isAscii,
  isDotGit,
  isPlainName,
  isWithin,
  isWithinAny,
  join,
  toText,
} from './path-name.ts';
export { readFully } from './read-fully.ts';
export { readJson } from './read-json.ts';
export {
  type EntryAt,
  type Keep,
  removeEmptyFolders,
  removeEntry,
  removeFolder,
  removeIfEmpty,
} from './remove-entry.ts';
export { setMtime } from './set-mtime.ts';
export { setFileOwner, setFolderOwner, setLinkOwner } from './set-owner.ts';
export { createYielder, type Yielder } from './yielder.ts';
