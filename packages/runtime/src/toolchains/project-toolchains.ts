import type { Toolchain } from '@holdpoint/contract';
import { type Runtime, type Sandbox, selectRuntime, type WorkspaceMount } from '@holdpoint/sandbox';
import type { Workspaces } from '@holdpoint/workspace';
import { chooseToolchains } from './choose.ts';
import { readWanted, versionFiles } from './wanted.ts';

interface Place extends Pick<WorkspaceMount, 'id' | 'uid' | 'gid'> {
  /** The snapshot at the start of the run. */
  base: string;
}

/** Runtimes for the commands of a run, found as `node` and `python3`. */
export interface ProjectToolchains {
  of(place: Place): Promise<{ chosen: Toolchain[]; first: WorkspaceMount['first'] }>;
}

const mostRuns = 1000;
const longestFile = 256 * 1024;

/**
 * Chooses by the files of a run's first snapshot: later changes of the run to a file change no choice. Each process makes the same choices,
 * and keeps the choices for its `mostRuns` latest runs.
 */
export function openToolchains(
  sandbox: Pick<Sandbox, 'runtimes'>,
  workspaces: Pick<Workspaces, 'listing' | 'contents'>,
): ProjectToolchains {
  const known = new Map<string, ReturnType<ProjectToolchains['of']>>();
  const look = async ({ base, ...run }: Place) => {
    const runtimes = await sandbox.runtimes(run);
    const contents = await readFiles(workspaces, { runId: run.id, snapshot: base });
    const choices = chooseToolchains(runtimes, readWanted(contents));
    return { chosen: choices.map(({ toolchain }) => toolchain), first: firstOf(choices.map(({ runtime }) => runtime)) };
  };
  return {
    of(place) {
      const found = known.get(place.id) ?? look(place);
      known.delete(place.id);
      known.set(place.id, found);
      found.catch(() => known.delete(place.id));
      for (const id of known.keys()) if (known.size > mostRuns) known.delete(id);
      return found;
    },
  };
}

function firstOf(runtimes: readonly (Runtime | undefined)[]): WorkspaceMount['first'] {
  const selected = runtimes.flatMap((one) => (one === undefined || one.isOwn ? [] : [selectRuntime(one)]));
  const bins = [...new Set(selected.flatMap((one) => one.bins))];
  const links = selected.flatMap((one) => one.links);
  return bins.length === 0 && links.length === 0 ? undefined : { bins, links };
}

/** Reads the names first, and starts a single process for the contents of the found files. */
async function readFiles(
  workspaces: Pick<Workspaces, 'listing' | 'contents'>,
  { runId, snapshot }: { runId: string; snapshot: string },
): Promise<Map<string, string>> {
  const { entries } = await workspaces.listing({ runId, snapshot });
  const found = entries.flatMap(({ path, oid, isLink }) =>
    versionFiles.includes(path) && oid !== null && !isLink ? [{ path, oid }] : [],
  );
  const contents = new Map<string, string>();
  if (found.length === 0) return contents;
  await workspaces.contents({
    ...{ runId, oids: found.map(({ oid }) => oid), maxBytes: longestFile },
    async onContent({ index, content }) {
      const path = found[index]?.path;
      if (path !== undefined && content !== undefined) contents.set(path, content.toString('utf8'));
    },
  });
  return contents;
}
