import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { fullForms, fullLoops } from '../../scripts/full-forms.ts';
import { LongestFirst } from '../../scripts/test-order.ts';
import { pollMs } from '../../vitest.config.ts';

/** The full form kills a process at every step. Each day another eighth of the bounded forms is part of `npm test`. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['tests/crash/**/*.test.ts', ...fullForms, ...fullLoops],
    env: { HOLDPOINT_CRASH: 'full' },
    pool: 'forks',
    globalSetup: 'tests/harness/bundle-programs.ts',
    // Much of the time is waiting for locks of killed processes to expire.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // A hundred cases took 14 s alone, and two minutes beside three other files on a busy machine.
    testTimeout: 300_000,
    expect: { poll: { timeout: pollMs } },
    hookTimeout: 60_000,
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/crash-report.json' },
  },
});
