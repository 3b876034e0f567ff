import { defineConfig } from 'vitest/config';

/** Symbols and imports of real repositories, compared with the report of each language's own tool. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/code-graph/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    // Seconds each, and at most 120 more to bring Go.
    testTimeout: 180_000,
    reporters: ['verbose'],
  },
});
