/** For tests, and for programs that tests and benches start: nothing here needs a test to be running. */

export { deviceOf } from '../drivers/overlay/other-namespaces.ts';
export { fromPlain, isDotGit } from '../files/index.ts';
export { standOnEmptyLayer } from './empty-layer.ts';
export { type FileTree, readTree, stamps, writeTree } from './file-tree.ts';
export { type Frozen, freezeAt } from './freeze-at-point.ts';
export { git, gitBytes, initRepository } from './real-git.ts';
export { runUntilKilled, stride, tried } from './run-until-killed.ts';
export {
  isLayered,
  owner,
  publishNow,
  runId,
  type Temporary,
  takeAll,
  temporary,
  unmountBelow,
} from './temporary-workspaces.ts';
