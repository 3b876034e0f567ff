import type { Toolchain } from '@holdpoint/contract';
import { type Runtime, type Sandbox, selectRuntime, type WorkspaceMount } from '@holdpoint/sandbox';
import type { Workspaces } from '@holdpoint/workspace';
import { compare, satisfies, validRange } from 'semver';
import { readWanted, versionFiles, type Wanted } from './wanted.ts';

/** The runtime of a language, chosen for a run. */
export interface Choice {
  toolchain: Toolchain;
  /** Undefined: the machine has no runtime of the language. */
  runtime: Runtime | undefined;
}

const languages = ['node', 'python'] as const;

/** Chooses the best runtimes of the machine for a project. Holdpoint's own Node is chosen only where there is no other Node. Pure. */
export const chooseToolchains = (runtimes: readonly Runtime[], wanted: readonly Wanted[]): Choice[] =>
  languages.flatMap((language) => {
    const found = runtimes.filter((one) => one.language === language);
    const ask = wanted.find((one) => one.language === language);
    return found.length === 0 && ask === undefined ? [] : [choose(language, found, ask)];
  });

function choose(language: Toolchain['language'], found: readonly Runtime[], wanted: Wanted | undefined): Choice {
  const others = found.filter(({ isOwn }) => !isOwn).sort((a, b) => compare(b.version, a.version));
  const own = found.find(({ isOwn }) => isOwn);
  // Commands keep the runtime they already find first, when its version fits.
  const known = [...others].sort((a, b) => Number(b.isFirst) - Number(a.isFirst));
  const fitting = wanted && known.find(({ version }) => fits(version, wanted.range));
  const runtime = fitting ?? nearest(known, others, wanted) ?? own;
  return {
    runtime,
    toolchain: {
      ...{ language, version: runtime?.version ?? null, path: runtime?.path },
      ...(runtime?.isOwn && { own: true }),
      ...(wanted && { wanted: wanted.text, by: wanted.by }),
      fits: wanted === undefined || (runtime !== undefined && fits(runtime.version, wanted.range)),
    },
  };
}

const fits = (version: string, range: string | undefined): boolean =>
  range !== undefined && validRange(range) !== null && satisfies(version, range);

/**
 * Where no version fits: a version with the same beginning as the wanted plain version, else the runtime commands already find, else the
 * newest.
 */
function nearest(
  known: readonly Runtime[],
  newest: readonly Runtime[],
  wanted: Wanted | undefined,
): Runtime | undefined {
  const [first] = known;
  const parts = /^\d+(\.\d+)*$/.test(wanted?.range ?? '') ? (wanted?.range ?? '').split('.') : [];
  for (let count = parts.length - 1; count > 0; count--) {
    const start = `${parts.slice(0, count).join('.')}.`;
    const found = newest.find(({ version }) => version.startsWith(start));
    if (found !== undefined) return found;
  }
  return first?.isFirst ? first : newest[0];
}

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
