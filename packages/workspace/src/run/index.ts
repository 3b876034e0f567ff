export { createRunFolder, makingFolder, removeAbandonedBuilds, temporaryPath } from './create-run-folder.ts';
export { formerTimes } from './former-times.ts';
export { createLooks } from './looks.ts';
export { makeTree } from './make-tree.ts';
export { removeAside } from './remove-aside.ts';
export {
  assertCurrent,
  cacheOf,
  currentEpoch,
  dropMark,
  epochsIn,
  folderAt,
  highestEpoch,
  isDropped,
  isRunId,
  type RunFolder,
  runFolder,
  staleLease,
} from './run-folder.ts';
export { createRunStates, type RunState } from './run-state.ts';
export { createSerial, type Serial } from './serial.ts';
export { damageFile, setAside, trashFolder } from './set-aside.ts';
export { createHead, isRunning, moveHead, readHead, type TreeHead, thisProcess } from './tree-head.ts';
export { readRecord, requireRecord, type WorkspaceRecord, writeRecord } from './workspace-record.ts';
