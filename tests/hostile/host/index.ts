export { exited, mib, quota, timedOut } from './ends.ts';
export { type Cases, form, inForm } from './form.ts';
export { argumentsOf, descendants, descriptorsOf, pids, processesIn, processesWith } from './process-table.ts';
export { type InScene, inScene, type Scene, useScene, viewsOf } from './scene.ts';
export {
  closedIfRoot,
  makeDirectory,
  openAndClosed,
  removeTree,
  runProgram,
  systemPath,
  type User,
  users,
} from './users.ts';
