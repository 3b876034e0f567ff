import { defineConfig } from 'vitest/config';

/** `npm run coverage`: the tests of packages/tools. `scripts/check-coverage.ts` reads the report. */
export default defineConfig({
  test: {
    include: ['packages/tools/src/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ['default'],
    coverage: {
      enabled: true,
      provider: 'v8',
      include: ['packages/tools/src/{toolsets,operations}/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['json'],
      reportsDirectory: '.cache/coverage',
    },
  },
});
