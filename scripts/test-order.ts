import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The first that matches counts. Files that start whole systems take longest; one that begins last would run alone at the end. */
const order = [
  // Those of test:crash that take more than a minute: one that begins last would run alone.
  /\/long-conversation\.recover\./,
  /\/(waiting|open-run)\.recover\.|\/lost-wake-up\.race\./,
  // What measures memory or delays runs in a new process.
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

/** Longest first, on a machine that has never run the tests. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
