import { defineConfig } from 'vitest/config';

/** The full form. `npm run test:faults` includes the bounded form. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/power/**/*.test.ts'],
    env: { HOLDPOINT_POWER: 'full' },
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ['verbose'],
  },
});
