import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/** A new run needs space for its workspace and its log. @throws ApiProblem `storage_full` */
export function checkSpace({ space }: Pick<ApiDeps, 'space'>): void {
  if (space.low === undefined) return;
  const free = Math.floor(space.low / (1024 * 1024));
  throw new ApiProblem('storage_full', `only ${free} MiB are free on the disk of the data directory`);
}
