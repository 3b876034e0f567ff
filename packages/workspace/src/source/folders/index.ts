export { checkFolders } from './check-folders.ts';
export { findFolders, makeMountPoints, topOf } from './mount-points.ts';
