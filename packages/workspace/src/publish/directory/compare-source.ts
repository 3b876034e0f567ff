import type { Resolution } from '@holdpoint/contract';
import type { Deps } from '../../deps.ts';
import { isDotGit, namesIn, openChain, openTop, statIn, toText } from '../../files/index.ts';
import { type Change, find, isFolder, isSame, type Leaf, type ObjectWriter } from '../../store/objects/index.ts';
import { type ChangeSet, resolveConflict, unexplained } from '../index.ts';
import { type Found, inspect, storeSource } from './inspect-source.ts';

/** The planned result for a path of the change set. */
export interface Outcome {
  change: Change;
  found: Found;
  wanted: Leaf | null;
  /** `open`: an unresolved conflict. `settled`: a conflict resolved by a person. */
  state: 'clear' | 'settled' | 'open';
  /** Why the path is in conflict; empty unless `open`. */
  detail: string;
  /** No step of the run made the change. */
  isUnexplained: boolean;
  /** Whether a person can resolve the conflict. If not, the source has to be cleaned up first. */
  isSettleable: boolean;
}

interface Input {
  /** The shadow repository. */
  gitDir: string;
  set: ChangeSet;
  /** Paths of changes without a responsible step. */
  unexplained: ReadonlySet<string>;
  resolutions: readonly Resolution[];
  writer: ObjectWriter;
}

/** Compares every path of the change set with the current source, and applies the resolutions to conflicts. */
export async function compareSource(deps: Pick<Deps, 'git'>, root: string, input: Input): Promise<Outcome[]> {
  const { changes, before } = input.set;
  const deleted = new Set(changes.filter((change) => change.new === null).map(({ path }) => path));
  const outcomes: Outcome[] = [];
  for (const change of changes) {
    const found = await inspect(root, change.path);
    const wasFolder = isFolder(find(before.root, change.path.split('/')));
    const isUnexplained = input.unexplained.has(change.path);
    const detail =
      conflictDetail(root, { change, found, wasFolder, deleted }) ?? (isUnexplained ? unexplained : undefined);
    outcomes.push({ ...(await outcomeOf(deps, { ...input, root }, { change, found, detail })), isUnexplained });
  }
  const kept = new Set(outcomes.filter(isKept).map(({ change }) => change.path));
  if (kept.size === 0) return outcomes;
  const gone = deleted.difference(kept);
  return outcomes.map((outcome) => (isInTheWay(root, outcome, gone) ? withLeftOut(input, outcome) : outcome));
}

async function outcomeOf(
  deps: Pick<Deps, 'git'>,
  input: Input & { root: string },
  at: { change: Change; found: Found; detail: string | undefined },
): Promise<Omit<Outcome, 'isUnexplained'>> {
  const { change, found, detail } = at;
  if (detail === undefined) {
    return { change, found, wanted: change.new, state: 'clear', detail: '', isSettleable: false };
  }
  // A person can choose between files, or no file. Anything else in the way has to be moved by its owner.
  const isSettleable = found.kind === 'leaf' || found.kind === 'absent';
  const source = found.kind === 'leaf' ? { mode: found.mode, oid: found.oid } : null;
  const resolution = resolutionOf(input, change);
  const { root, gitDir, writer } = input;
  const conflicting = {
    ...{ gitDir, writer, versions: { base: change.old, source, run: change.new } },
    storeSource: async () => {
      if (source !== null) await storeSource(root, { path: change.path, oid: source.oid, writer });
    },
  };
  const resolved = isSettleable ? await resolveConflict(deps, resolution, conflicting) : undefined;
  if (resolved === undefined) return { change, found, wanted: change.new, state: 'open', detail, isSettleable };
  return { change, found, wanted: resolved.leaf, state: 'settled', detail: '', isSettleable };
}

const resolutionOf = ({ resolutions }: Input, { path }: Change): Resolution | undefined =>
  resolutions.find((one) => one.path === toText(path));

/** The run deleted the file and a person kept the file. */
const isKept = ({ change, state, wanted }: Outcome): boolean =>
  state === 'settled' && change.new === null && wanted !== null;

/** Whether a file of the run is blocked by a file the run deleted and a person kept. */
function isInTheWay(root: string, { change, found, state, wanted }: Outcome, gone: ReadonlySet<string>): boolean {
  if (state !== 'clear' || wanted === null) return false;
  if (found.kind === 'blocked') return !gone.has(found.by);
  return found.kind === 'directory' && !holdsOnly(root, change.path, gone);
}

/** A blocked file can only be left out, unless the person decides otherwise about the blocking file. */
function withLeftOut(input: Input, outcome: Outcome): Outcome {
  const resolution = resolutionOf(input, outcome.change);
  if (resolution?.take === 'source' && resolution.seen === null) return { ...outcome, wanted: null, state: 'settled' };
  const detail =
    'A file that you kept is in the way. Take the source here to leave this file out, or delete the other file.';
  return { ...outcome, state: 'open', detail, isSettleable: true };
}

/** Why a path cannot be published; undefined for a publishable path. A path already in the wanted state is fine. */
function conflictDetail(
  root: string,
  at: { change: Change; found: Found; wasFolder: boolean; deleted: ReadonlySet<string> },
): string | undefined {
  const { change, found, deleted } = at;
  switch (found.kind) {
    case 'leaf':
      if (isSame(found, change.old ?? undefined) || isSame(found, change.new ?? undefined)) return undefined;
      return change.old === null
        ? 'The source has a new file here that the run did not start from.'
        : 'The file changed since the run started.';
    case 'absent':
      return change.old === null || change.new === null ? undefined : 'The file was removed since the run started.';
    case 'blocked':
      if (change.new === null || deleted.has(found.by)) return undefined;
      return `${toText(found.by)} is no longer a folder.`;
    case 'directory':
      if (at.wasFolder && holdsOnly(root, change.path, deleted)) return undefined;
      return 'The source has a folder with other files here.';
    case 'special':
      return 'The source has a socket, FIFO or device here.';
    default:
      throw found satisfies never;
  }
}

/** Whether everything in a folder is about to be deleted. */
function holdsOnly(root: string, path: string, deleted: ReadonlySet<string>): boolean {
  using top = openTop(root);
  using directory = openChain(top, path.split('/'));
  if (directory === undefined) return true;
  return namesIn(directory).every((name) => {
    const below = `${path}/${name}`;
    if (isDotGit(name)) return false;
    return statIn(directory, name)?.isDirectory() === true ? holdsOnly(root, below, deleted) : deleted.has(below);
  });
}
