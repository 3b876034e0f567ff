export { measureFolder } from './measure-folder.ts';
export { releaseReserve } from './reserve.ts';
export { type SpaceLimits, spaceLimitsFrom } from './space-limits.ts';
export { freeBytes, type SpaceWatch, watchSpace } from './watch-space.ts';
