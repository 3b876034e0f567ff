import { defineConfig } from 'vitest/config';

/** `npm run coverage`: fails when the tests of packages/tools reach less than 95 % of the lines of a tool or of an operation that tools share. */
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
      reporter: ['text', 'json'],
      reportOnFailure: true,
      reportsDirectory: '.cache/coverage',
      thresholds: { perFile: true, lines: 95 },
    },
  },
});
