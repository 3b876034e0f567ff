import { type EndOptions, endProcess } from './end-process.ts';
import { isAlive } from './process-identity.ts';
import type { SystemRecord } from './system-record.ts';

/**
 * Ends the children of an `up` that was killed. Workers end first, so that they can still record what they finish.
 *
 * @returns the number of children
 */
export async function endChildren(left: Pick<SystemRecord, 'children'>, options: EndOptions): Promise<number> {
  const alive = left.children.filter(isAlive);
  const isWorker = ({ name }: { name: string }) => name.startsWith('worker');
  for (const group of [alive.filter(isWorker), alive.filter((child) => !isWorker(child))]) {
    await Promise.all(group.map((child) => endProcess(child, options)));
  }
  return alive.length;
}
