import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The first matching pattern counts. Files that start whole systems take longest; a late start would leave such a file alone at the end.
 */
const order = [
  // Files of test:crash with more than a minute: a late start would leave them alone at the end.
  /\/long-conversation\.recover\./,
  /\/(waiting|open-run)\.recover\.|\/lost-wake-up\.race\./,
  // Two minutes, and what else takes most of a minute.
  /\/copy\.reject\./,
  /\/up\.(recover|create)\.|\/runs\/(traces|agents|prepare)\.|\/faults\/tree\.|\/remote-git\.|\/bad-receiver\./,
  // Measurements of memory or delays run in a new process.
  /\.measure\.test\.ts$/,
  /\/tests\/(power|repositories|faults)\//,
  /\/tests\/runs\/|\/apps\/cli\/src\/commands\//,
  /\/tests\/(hostile|docs|gate|telemetry)\/|\/apps\/api\/src\/main\./,
  /\/packages\/(workspace|sandbox)\//,
];

const rank = ({ moduleId }: TestSpecification): number => {
  const found = order.findIndex((pattern) => pattern.test(moduleId));
  return found < 0 ? order.length : found;
};

/** Longest first, on a machine without earlier test times. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
