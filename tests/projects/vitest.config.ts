import { defineConfig } from 'vitest/config';

/** Public projects of npm and PyPI, with their own tests: prepared, repaired by a scripted model, and published. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/projects/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 120_000,
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/projects-report.json' },
  },
});
