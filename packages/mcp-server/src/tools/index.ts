import type { ToolDefinition } from '../define-tool.ts';
import { getApproval, listApprovals } from './approvals.ts';
import { getDiff, readFile } from './changes.ts';
import { getRun, listRuns } from './runs.ts';
import { cancelRun, forkRun, sendMessage, submitRun } from './submit.ts';
import { waitForRun } from './wait.ts';

/** In the order in which a model needs them. None decides on an approval, and none publishes. */
export const tools: readonly ToolDefinition[] = [
  submitRun,
  waitForRun,
  getRun,
  listRuns,
  sendMessage,
  cancelRun,
  forkRun,
  getDiff,
  readFile,
  listApprovals,
  getApproval,
];
