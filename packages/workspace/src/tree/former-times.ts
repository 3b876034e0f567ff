import type { RunFolder } from '../run-folder/run-folder.ts';
import type { MtimeOf } from './checkout.ts';
import { openStatCache, type StatCache } from './stat-cache.ts';

/** The times of the content of another tree's files, read at the first question: 100,000 files take 200 ms. */
export function formerTimes(former: RunFolder | undefined): MtimeOf {
  let stats: StatCache | undefined;
  return (path, oid) => {
    if (former === undefined) return undefined;
    stats ??= openStatCache(former);
    return stats.mtimeOf(path, oid);
  };
}
