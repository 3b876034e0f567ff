import type { Deps } from '../deps.ts';
import type { ObjectWriter } from '../git-objects/object-writer.ts';
import type { Folder } from '../tree/tree.ts';

/** Pairs of deleted and added files that git compares at most, per side: 1,000 × 1,000. */
const mostCompared = 1000;

/**
 * Where git believes that the deleted files of one side went to. Only a hint for the person who settles a conflict: no merge follows it.
 * @returns new path by old path
 */
export async function findMoves(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; writer: ObjectWriter; from: Folder; to: Folder },
): Promise<ReadonlyMap<string, string>> {
  const trees = [await input.writer.root(input.from), await input.writer.root(input.to)];
  await input.writer.flush();
  const shape = ['-r', '-z', '--name-status', '--diff-filter=R', '-M50%', `-l${mostCompared}`, '--no-ext-diff'];
  const { stdout } = await deps.git.run([`--git-dir=${input.gitDir}`, 'diff-tree', ...shape, ...trees], {
    maxBytes: 256 * 1024 * 1024,
  });
  const fields = stdout.toString('latin1').split('\0').slice(0, -1);
  const moves = new Map<string, string>();
  for (let at = 0; at + 2 < fields.length; at += 3) moves.set(fields[at + 1] ?? '', fields[at + 2] ?? '');
  return moves;
}
