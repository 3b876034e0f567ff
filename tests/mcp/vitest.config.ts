import { defineConfig } from 'vitest/config';

/** Other agents: MCP over HTTP and standard input, and the conformance suite of the protocol's project. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'tests/mcp/**/*.test.ts',
      'apps/cli/src/{commands/mcp,mcp-clients}/**/*.test.ts',
      'packages/mcp-server/src/**/*.test.ts',
    ],
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: 'tests/harness/bundle-programs.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/mcp-report.json' },
  },
});
