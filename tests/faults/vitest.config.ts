import { defineConfig } from 'vitest/config';

/** Single faults, and the bounded forms of the power cuts and the repositories: whole systems, a minute for a file. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/{faults,power,repositories}/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/faults-report.json' },
  },
});
