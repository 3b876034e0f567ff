import type { Resolution } from '@holdpoint/contract';
import { namesIn, openChain, openTop, statIn } from '../../files/open-directory.ts';
import { isDotGit, toText } from '../../files/path-name.ts';
import type { ObjectWriter } from '../../git-objects/object-writer.ts';
import { type Change, find, isFolder, isSame, type Leaf } from '../../tree/tree.ts';
import type { ChangeSet } from '../change-set.ts';
import { resolve } from '../resolve.ts';
import { type Found, inspect } from './inspect-source.ts';

/** What is to become of one path of the change set. */
export interface Outcome {
  change: Change;
  found: Found;
  wanted: Leaf | null;
  /** `open`: in conflict, and nobody has said what is to be done. `settled`: a person has. */
  state: 'clear' | 'settled' | 'open';
  /** Of an open one: why. */
  detail: string;
  /** Of an open one: whether a person can settle it, or the source has to be brought in order first. */
  isSettleable: boolean;
}

interface Input {
  set: ChangeSet;
  resolutions: readonly Resolution[];
  writer: ObjectWriter;
}

/** Compares every path of the change set with the source as it is now, and takes what was said of those in conflict. */
export async function compareSource(root: string, input: Input): Promise<Outcome[]> {
  const { changes, before } = input.set;
  const deleted = new Set(changes.filter((change) => change.new === null).map(({ path }) => path));
  const outcomes: Outcome[] = [];
  for (const change of changes) {
    const found = await inspect(root, change.path);
    const wasFolder = isFolder(find(before.root, change.path.split('/')));
    const detail = objection(root, { change, found, wasFolder, deleted });
    outcomes.push(outcomeOf(input, { change, found, detail }));
  }
  const kept = new Set(outcomes.filter(isKept).map(({ change }) => change.path));
  if (kept.size === 0) return outcomes;
  const gone = deleted.difference(kept);
  return outcomes.map((outcome) => (isInTheWay(root, outcome, gone) ? leftOut(input, outcome) : outcome));
}

function outcomeOf(input: Input, at: { change: Change; found: Found; detail: string | undefined }): Outcome {
  const { change, found, detail } = at;
  if (detail === undefined) {
    return { change, found, wanted: change.new, state: 'clear', detail: '', isSettleable: false };
  }
  // Only a file, or nothing, can be settled; what else stands in the way has to be moved by its owner.
  const isSettleable = found.kind === 'leaf' || found.kind === 'absent';
  const source = found.kind === 'leaf' ? { mode: found.mode, oid: found.oid } : null;
  const resolution = resolutionOf(input, change);
  const resolved = isSettleable ? resolve(resolution, { source, run: change.new }, input.writer) : undefined;
  if (resolved === undefined) return { change, found, wanted: change.new, state: 'open', detail, isSettleable };
  return { change, found, wanted: resolved.leaf, state: 'settled', detail: '', isSettleable };
}

const resolutionOf = ({ resolutions }: Input, { path }: Change): Resolution | undefined =>
  resolutions.find((one) => one.path === toText(path));

/** A file that the run deleted and a person kept. */
const isKept = ({ change, state, wanted }: Outcome): boolean =>
  state === 'settled' && change.new === null && wanted !== null;

/** Whether a file of the run has no place any more, because of a file that was to go and stays after all. */
function isInTheWay(root: string, { change, found, state, wanted }: Outcome, gone: ReadonlySet<string>): boolean {
  if (state !== 'clear' || wanted === null) return false;
  if (found.kind === 'blocked') return !gone.has(found.by);
  return found.kind === 'directory' && !holdsOnly(root, change.path, gone);
}

/** The one thing that can be done with it, short of deciding otherwise about the other file, is to leave it out. */
function leftOut(input: Input, outcome: Outcome): Outcome {
  const resolution = resolutionOf(input, outcome.change);
  if (resolution?.take === 'source' && resolution.seen === null) return { ...outcome, wanted: null, state: 'settled' };
  const detail =
    'A file that is to stay is in the way. Take the source here, and this one is left out, or let the other file go.';
  return { ...outcome, state: 'open', detail, isSettleable: true };
}

/** Why a path cannot be published; undefined when it can. A path that is already as wanted is fine. */
function objection(
  root: string,
  at: { change: Change; found: Found; wasFolder: boolean; deleted: ReadonlySet<string> },
): string | undefined {
  const { change, found, deleted } = at;
  switch (found.kind) {
    case 'leaf':
      if (isSame(found, change.old ?? undefined) || isSame(found, change.new ?? undefined)) return undefined;
      return change.old === null
        ? 'A file that the run did not start from is there now.'
        : 'The file changed since the run started.';
    case 'absent':
      return change.old === null || change.new === null ? undefined : 'The file was removed since the run started.';
    case 'blocked':
      if (change.new === null || deleted.has(found.by)) return undefined;
      return `${toText(found.by)} is not a folder any more.`;
    case 'directory':
      if (at.wasFolder && holdsOnly(root, change.path, deleted)) return undefined;
      return 'A folder with other files is there now.';
    case 'special':
      return 'A socket, FIFO or device is there now.';
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
