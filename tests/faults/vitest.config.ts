import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { manySeconds } from '../../scripts/full-forms.ts';
import { LongestFirst } from '../../scripts/test-order.ts';
import { halfMinutes, pollMs } from '../../vitest.config.ts';

/**
 * Whole systems, a minute for a file: single faults, races, limits and recoveries of runs, and the bounded forms of the attacks, the power cuts
 * and the repositories.
 */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'tests/{faults,hostile,power,repositories}/**/*.test.ts',
      'tests/runs/*.{race,limit,recover}.test.ts',
      ...halfMinutes,
      ...manySeconds,
    ],
    sequence: { sequencer: LongestFirst },
    // For processes started by tests: each compiles 1,000 modules.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('../../.cache/compiled', import.meta.url)) },
    pool: 'forks',
    // Much of the time is waiting for systems to start, die and recover.
    maxWorkers: 4,
    testTimeout: 120_000,
    expect: { poll: { timeout: pollMs } },
    hookTimeout: 60_000,
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/faults-report.json' },
  },
});
