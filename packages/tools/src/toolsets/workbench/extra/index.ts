import { formatCode } from './format-code.ts';
import { gitCommit } from './git-commit.ts';
import { gitPush } from './git-push.ts';
import { gitStatus } from './git-status.ts';
import { installPackage } from './install-package.ts';
import { runTests } from './run-tests.ts';
import { searchCode } from './search-code.ts';

/** Additional tools of the workbench when HOLDPOINT_TOOLS names `@holdpoint/tools/workbench-extra`. */
export const workbenchExtra = {
  addsTo: 'workbench',
  tools: [gitStatus, gitCommit, gitPush, searchCode, runTests, formatCode, installPackage],
};
