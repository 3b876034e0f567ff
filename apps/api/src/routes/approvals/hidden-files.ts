import type { HiddenFiles } from '@holdpoint/contract';
import type { StepApproval } from '@holdpoint/engine';
import { WorkspaceError, type Workspaces } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';

type Deps = Pick<ApiDeps, 'engine' | 'workspaces'>;

const nothing: HiddenFiles = { unknown: [], repositories: [] };

/**
 * The files of a call hidden from a person. The approval has the list, as of its request; the function opens the workspace only when the
 * files have changed since, or an earlier version requested the approval.
 */
export async function hiddenFiles(deps: Deps, { run, approval }: StepApproval): Promise<HiddenFiles> {
  const { id: runId, snapshot, base: since } = run;
  if (snapshot === undefined || since === undefined) return nothing;
  const { files } = approval.request;
  if (files?.snapshot === snapshot && files.since === since) {
    return files.hidden === undefined ? nothing : deps.engine.read(files.hidden);
  }
  return lookOnce(deps.workspaces, { runId, snapshot, since });
}

/** Snapshots never change, so a single look serves every list. */
const seen = new WeakMap<object, Map<string, Promise<HiddenFiles>>>();
const mostKept = 2000;
/** A page may need 200 looks, and each starts processes: a sequence leaves time for other requests in between. */
let last: Promise<unknown> = Promise.resolve();

function lookOnce(workspaces: Deps['workspaces'], at: Place): Promise<HiddenFiles> {
  const known = seen.get(workspaces) ?? new Map<string, Promise<HiddenFiles>>();
  seen.set(workspaces, known);
  const key = `${at.runId} ${at.since} ${at.snapshot}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = last.then(() => look(workspaces, at));
  last = found.catch(() => known.delete(key));
  known.set(key, found);
  if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
  return found;
}

interface Place {
  runId: string;
  snapshot: string;
  since: string;
}

async function look(workspaces: Pick<Workspaces, 'unknown' | 'repositories'>, at: Place): Promise<HiddenFiles> {
  try {
    const [unknown, repositories] = await Promise.all([workspaces.unknown(at), workspaces.repositories(at)]);
    return { unknown, repositories };
  } catch (error) {
    // The workspace is not on this host or was discarded, so the run cannot continue either.
    if (error instanceof WorkspaceError && error.code === 'EWORKSPACEMISSING') return nothing;
    throw error;
  }
}
