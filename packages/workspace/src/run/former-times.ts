import { type MtimeOf, openStatCache, type StatCache } from '../tree/index.ts';
import type { RunFolder } from './run-folder.ts';

/** When the files of another tree got their content, read once it is asked for: 100,000 files take 200 ms. */
export function formerTimes(former: RunFolder | undefined): MtimeOf {
  let stats: StatCache | undefined;
  return (path, oid) => {
    if (former === undefined) return undefined;
    stats ??= openStatCache(former);
    return stats.mtimeOf(path, oid);
  };
}
