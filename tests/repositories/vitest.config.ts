import { defineConfig } from 'vitest/config';

/** The full form: every repository. `npm run test:faults` includes the bounded form. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/repositories/**/*.test.ts'],
    env: { HOLDPOINT_REPOSITORIES: 'full' },
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    reporters: ['verbose'],
  },
});
