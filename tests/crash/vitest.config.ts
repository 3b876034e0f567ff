import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from '../../scripts/test-order.ts';
import { pollMs } from '../../vitest.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Tests of workspaces that have a full form. The others are the same in `npm test`. */
const workspaces = globSync('packages/workspace/src/**/*.test.ts', { cwd: root }).filter((file) =>
  /\bstride\b|HOLDPOINT_CRASH/.test(readFileSync(join(root, file), 'utf8')),
);

/** The full form kills a process at every step. The bounded form is part of `npm test`. */
export default defineConfig({
  test: {
    root,
    include: [
      'tests/crash/**/*.test.ts',
      'tests/runs/{approved-call,decisions}.race.test.ts',
      ...workspaces,
      'packages/engine/src/handlers/lost-wake-up.race.test.ts',
      'packages/engine/src/agents/waiting.recover.test.ts',
      'packages/engine/src/supervising/merge-agent.recover.test.ts',
      'packages/engine/src/installation/migrations/killed-migration.recover.test.ts',
      'packages/engine/src/**/tree.recover.test.ts',
      'packages/engine/src/commands/{open-run,cancel-step}.recover.test.ts',
      'tests/runs/open-run.recover.test.ts',
      'packages/engine/src/approvals/results.recover.test.ts',
    ],
    env: { HOLDPOINT_CRASH: 'full' },
    pool: 'forks',
    globalSetup: 'tests/harness/bundle-programs.ts',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    expect: { poll: { timeout: pollMs } },
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
