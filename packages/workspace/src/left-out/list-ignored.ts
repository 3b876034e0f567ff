import { type Call, type Deps, WorkspaceError } from '../deps.ts';
import { fromText, toText } from '../files/index.ts';
import { requireRecord, runFolder } from '../run-folder/index.ts';
import { loadSnapshot } from '../tree/index.ts';
import { shareRules } from './ignore-rules.ts';

/** A pattern of a stranger can take hours. The caller waits no longer. */
const longestMs = 3000;

/** The paths among the asked ones that the `.gitignore` files of a snapshot match. Rules that take too long, or are too large, match nothing. */
export async function listIgnored(
  deps: Pick<Deps, 'git' | 'dataDir' | 'states' | 'bounds' | 'isRoot'>,
  { runId, snapshot, paths, signal }: Call<'ignored'>,
): Promise<Set<string>> {
  const folder = runFolder(deps.dataDir, runId);
  const record = requireRecord(folder);
  const { root } = await loadSnapshot(deps, { folder, state: deps.states.of(folder), id: snapshot });
  const deadline = AbortSignal.timeout(longestMs);
  await using shared = shareRules();
  try {
    const rules = await shared.open(deps, { folder, record, root });
    const asked = paths.map(({ path, isFolder }) => ({ path: fromText(path), isFolder }));
    const found = await rules.match(asked, AbortSignal.any([deadline, ...(signal ? [signal] : [])]));
    return new Set([...found].map(toText));
  } catch (error) {
    signal?.throwIfAborted();
    if (deadline.aborted || (error instanceof WorkspaceError && error.code === 'EIGNORERULES')) return new Set();
    throw error;
  }
}
