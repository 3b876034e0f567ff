export { createLooks } from './looks.ts';
export { belongsToDeadProcess, makingFolder, temporaryPath } from './making-folder.ts';
export { preparedSnapshot, writeMark } from './prepared-mark.ts';
export {
  asideOf,
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
export { createSerial, type Serial } from './serial.ts';
export { createHead, isRunning, moveHead, readHead, type TreeHead, thisProcess } from './tree-head.ts';
export {
  fromSkips,
  isSameSkip,
  readRecord,
  requireRecord,
  type Skipped,
  skippedPaths,
  toSkips,
  type WorkspaceRecord,
  writeRecord,
} from './workspace-record.ts';
