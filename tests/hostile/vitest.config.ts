import { defineConfig } from 'vitest/config';

/** The full form. The bounded form is part of `npm run test:faults`. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'tests/hostile/**/*.test.ts',
      'packages/tools/src/web/page.limit.test.ts',
      'packages/tools/src/text-work/apply-patch.render.test.ts',
    ],
    env: { HOLDPOINT_HOSTILE: 'full' },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ['verbose'],
  },
});
