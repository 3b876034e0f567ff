import { defineConfig } from 'vitest/config';

/** The operator's view, by the operator's programs: Prometheus and promtool. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/seeing/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/seeing-report.json' },
  },
});
