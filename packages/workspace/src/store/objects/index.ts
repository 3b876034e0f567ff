export { applyChanges } from './apply-changes.ts';
export { isIntactPack } from './intact-pack.ts';
export { hashLargeBlob } from './large-blob.ts';
export { commitContent, hashTree, readCommit, signature } from './object-content.ts';
export { type ObjectType, objectId } from './object-id.ts';
export { createObjectWriter, largeBlobBytes, type ObjectWriter } from './object-writer.ts';
export { commitPack, layOut, newPackPaths, type PackedObject, packObject, writePack } from './pack.ts';
export { objectsIn } from './pack-index.ts';
export { PackStream } from './pack-stream.ts';
export { hasRef, isRefName, writeRef } from './ref-file.ts';
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
