import { defineConfig } from 'vitest/config';
import { pollMs } from '../../vitest.config.ts';

/** The console in a real browser, on a real system. `npm test` has a bounded form. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/console/**/*.test.ts'],
    globalSetup: ['tests/harness/bundle-programs.ts', 'tests/console/shared-system.ts'],
    pool: 'forks',
    // A browser and the system behind it keep two cores busy.
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: pollMs } },
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/console-report.json' },
  },
});
