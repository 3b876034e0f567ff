import { join } from 'node:path';
import { WorkspaceError } from '../errors.ts';

/** Where the parts of a run's workspace lie. Only `tree` is ever mounted into a sandbox. */
export interface RunFolder {
  readonly runId: string;
  readonly path: string;
  readonly tree: string;
  readonly shadow: string;
  /** Written last by materialise: a folder without it is half made. */
  readonly record: string;
  readonly statCache: string;
  readonly clock: string;
  readonly publish: string;
}

export const isRunId = (name: string): boolean => /^[A-Za-z0-9_-]{1,128}$/.test(name);

export function runFolder(dataDir: string, runId: string): RunFolder {
  if (!isRunId(runId)) {
    throw new WorkspaceError('ERUNIDINVALID', `${JSON.stringify(runId)} is not a run id.`);
  }
  const path = join(dataDir, 'runs', runId);
  return {
    runId,
    path,
    tree: join(path, 'tree'),
    shadow: join(path, 'shadow.git'),
    record: join(path, 'workspace.json'),
    statCache: join(path, 'stat-cache'),
    clock: join(path, 'clock'),
    publish: join(path, 'publish'),
  };
}
