export { measureFolder } from './measure-folder.ts';
export { type SpaceLimits, spaceLimitsFrom } from './space-limits.ts';
export { freeBytes, releaseReserve, type SpaceWatch, watchSpace } from './watch-space.ts';
