import { defineConfig } from 'vitest/config';

/** Agents of others inside: those of npm, really started, against a scripted model on loopback. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['tests/agents/**/*.test.ts', 'packages/outside-agents/src/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    globalSetup: 'tests/harness/bundle-programs.ts',
    testTimeout: 180_000,
    hookTimeout: 120_000,
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/agents-report.json' },
  },
});
