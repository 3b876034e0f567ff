import { nearestNames } from '@holdpoint/contract';
import { badParams } from './bad-params.ts';
import type { Asked } from './row.ts';

const mostCompared = 2000;

/** The path of a file of the graph. An unreadable path is reported like a missing path. */
export function fileOf({ view, isReadable }: Asked, given: string): string {
  const path = given.replace(/^(\.\/)+/, '');
  if (view.file(path) !== undefined && isReadable(path)) return path;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const readable = view.paths.filter(isReadable);
  const sameName = readable.filter((one) => one.endsWith(`/${name}`) || one === name);
  const near = sameName.length > 0 ? sameName.slice(0, 3) : nearestNames(path, readable.slice(0, mostCompared));
  const next = near.length === 0 ? 'The graph has no file that the run may read.' : `Nearest: ${near.join(', ')}.`;
  throw badParams(`/params/path: the snapshot has no file ${JSON.stringify(path)}.`, next);
}
