import type { Deps, ObjectWriter } from '../../deps.ts';
import type { Folder } from '../../store/objects/index.ts';

/** git compares at most 1,000 deleted files with 1,000 added files per side. */
const mostCompared = 1000;

/**
 * Asks git for the new places of a side's deleted files. This is only a hint for a person; no merge uses it.
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
