import { defineConfig } from 'vitest/config';

/** What an operator sees, by the programs that an operator has: Prometheus and promtool. */
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
