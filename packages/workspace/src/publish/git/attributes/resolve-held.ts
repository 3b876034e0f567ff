import type { Conflict, Resolution } from '@holdpoint/contract';
import type { Deps, ObjectWriter, RunFolder } from '../../../deps.ts';
import { toText } from '../../../files/index.ts';
import { type Change, type Folder, find, isLeaf } from '../../../store/objects/index.ts';
import { createTextBudget, readVersions, resolveConflict } from '../../index.ts';
import type { CleanedChanges } from './clean-changes.ts';

interface Input {
  folder: RunFolder;
  writer: ObjectWriter;
  /** The current tree of the branch. */
  source: Folder;
  held: CleanedChanges['held'];
  resolutions: readonly Resolution[];
}

/** Applies resolutions to the held files. The rest become conflicts. */
export async function resolveHeld(
  deps: Pick<Deps, 'git'>,
  input: Input,
): Promise<{ changes: Change[]; conflicts: Conflict[]; isOther: boolean }> {
  const changes: Change[] = [];
  const open: (CleanedChanges['held'][number] & { source: Change['old'] })[] = [];
  let isOther = false;
  for (const one of input.held) {
    const { change } = one;
    const entry = find(input.source, change.path.split('/'));
    const source = isLeaf(entry) ? entry : null;
    const resolution = input.resolutions.find(({ path }) => path === toText(change.path));
    const versions = { base: change.old, source, run: change.new };
    const at = { gitDir: input.folder.shadow, writer: input.writer, versions };
    // No lines are merged under a filter.
    const resolved = resolution && 'digest' in resolution ? undefined : await resolveConflict(deps, resolution, at);
    if (resolved === undefined) open.push({ ...one, source });
    else if (resolution?.take !== 'source') changes.push({ ...change, new: resolved.leaf });
    if (resolved !== undefined && resolution?.take !== 'run') isOther = true;
  }
  if (open.length === 0) return { changes, conflicts: [], isOther };
  await input.writer.flush();
  const leaves = open.flatMap(({ change, source }) => [change.old, source, change.new]);
  const version = await readVersions(deps, { gitDir: input.folder.shadow, leaves, budget: createTextBudget() });
  const conflicts = open.map(({ change, detail, source, reason = 'attributes' }): Conflict => {
    const versions = { base: version(change.old), source: version(source), run: version(change.new) };
    return { path: toText(change.path), reason, detail, versions };
  });
  return { changes, conflicts, isOther };
}
