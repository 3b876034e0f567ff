import type { PublishPlan } from '@holdpoint/contract';
import type { Deps, ObjectWriter } from '../deps.ts';
import { toText } from '../files/index.ts';
import type { Folder } from '../store/objects/index.ts';
import { findMoves } from './merge/find-moves.ts';

type PlanFiles = PublishPlan['files'];

/** Adds the moves of files to a plan. A hint for the deciding person: the digest of the plan does not cover moves. */
export async function withMoves(
  deps: Pick<Deps, 'git'>,
  files: PlanFiles,
  trees: { gitDir: string; writer: ObjectWriter; from: Folder; to: Folder },
): Promise<PlanFiles> {
  const paths = (status: string) => new Set(files.filter((file) => file.status === status).map(({ path }) => path));
  const [made, gone] = [paths('added'), paths('deleted')];
  if (made.size === 0 || gone.size === 0) return files;
  const moves = [...(await findMoves(deps, trees))].map(([from, to]) => [toText(from), toText(to)] as const);
  const known = moves.filter(([from, to]) => gone.has(from) && made.has(to));
  const [to, from] = [new Map(known), new Map(known.map(([before, now]) => [now, before]))];
  return files.map((file) => ({ ...file, moved_from: from.get(file.path), moved_to: to.get(file.path) }));
}
