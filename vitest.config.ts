import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { forms, formsNotToday, notToday } from './scripts/full-forms.ts';
import { LongestFirst } from './scripts/test-order.ts';

const tests = ['{packages,apps}/*/{src,tests}/**/*.test.ts', '{scripts,tests,examples}/**/*.test.ts'];

/** Measurements of memory or delays. */
const measures = ['{packages,apps}/*/src/**/*.measure.test.ts', 'tests/**/*.measure.test.ts'];

/**
 * Tests that ask a system of several processes. The system does the work, and a test starts few programs, so its process may grow: loading
 * the same modules for each of these files took a second of CPU time.
 */
const systems = ['tests/{runs,docs,telemetry}/**/*.test.ts', 'apps/cli/src/{commands,doctor}/**/*.test.ts'];

/**
 * What starts programs: each start copies the page tables of a process, which grow with the files that it has run. Six files of publishes took
 * a fifth less of the system's time in processes of their own.
 */
const programs = [
  'packages/{sandbox,workspace}/src/**/*.test.ts',
  'packages/runtime/src/{adapters,following,toolchains}/**/*.test.ts',
  'apps/cli/src/{*,{completion,system}/**/*}.test.ts',
  'apps/{worker/src/**/*,api/src/main.create}.test.ts',
  '{scripts,examples}/**/*.test.ts',
  'tests/*.test.ts',
  'tests/!(runs|docs|telemetry)/**/*.test.ts',
  ...measures,
];

/** Files that take about half a minute or more. `npm run test:faults` has them. */
export const halfMinutes = [
  'apps/cli/src/commands/{copy.reject,up.create,up.recover}.test.ts',
  'packages/sandbox/src/{files/tool-hosts,sandbox-output}.limit.test.ts',
  'packages/telemetry/src/bad-receiver.recover.test.ts',
  'packages/runtime/src/adapters/remote-git.create.test.ts',
  'tests/runs/{prepare,source-folders,traces}.create.test.ts',
  'tests/runs/{pull-request,woken-pull-request}.publish.test.ts',
];

/** `npm run test:faults`, `test:crash`, `test:seeing`, `test:mcp`, `test:agents` and `test:code-graph` have what takes minutes. CI runs them, the last one bounded. */
const longer = [
  '**/node_modules/**',
  '**/.cache/**',
  'examples/repos/**',
  'tests/tasks/*/{repo,hidden}/**',
  'tests/{agents,console,crash,faults,hostile,mcp,power,projects,repositories,seeing,code-graph}/**',
  'tests/runs/*.{race,limit,recover}.test.ts',
  ...halfMinutes,
];

/** In a real browser: the way from a login to a publish, and the keyboard alone. `npm run test:console` has the whole console. */
const browser = ['tests/console/{demo.create,keyboard.read}.test.ts'];

/** `npx vitest run FILE` finds each file on any day. */
const isTest = process.env.npm_lifecycle_event === 'test';
const elsewhere = isTest ? [...longer, ...notToday] : longer;

/** Longest wait of `expect.poll`. A machine shared with others was three times as slow as on another day. */
export const pollMs = 45_000;

export default defineConfig({
  test: {
    // Tests start real servers and sandboxes: processes of their own, and no more of them than a small machine bears. Many wait for
    // a lock to expire or a process to die; three keep two cores busy.
    pool: 'forks',
    maxWorkers: 3,
    globalSetup: 'tests/harness/bundle-programs.ts',
    projects: [
      {
        extends: true,
        test: { name: 'programs', include: programs, exclude: elsewhere, isolate: true },
      },
      {
        extends: true,
        test: {
          name: 'layers',
          include: forms,
          exclude: isTest ? [...longer, ...formsNotToday] : longer,
          isolate: true,
          env: { HOLDPOINT_TEST_LAYERS: 'always' },
        },
      },
      {
        extends: true,
        test: {
          name: 'systems',
          include: systems,
          exclude: [...elsewhere, ...measures],
          isolate: false,
          globalSetup: 'tests/harness/shared-system.ts',
        },
      },
      {
        // A process runs many files: loading the same modules for each takes a quarter of a second of CPU time.
        extends: true,
        test: { name: 'modules', include: tests, exclude: [...elsewhere, ...programs, ...systems], isolate: false },
      },
      {
        extends: true,
        test: { name: 'console', include: browser, isolate: false, globalSetup: 'tests/console/shared-system.ts' },
      },
    ],
    sequence: { sequencer: LongestFirst },
    // For the processes that tests start: each compiles 1,000 modules, which takes half a second of CPU time.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/compiled', import.meta.url)) },
    // A process is started and killed at every moment of a verb in one test: a minute, where the machine has other work.
    testTimeout: 120_000,
    // A hook starts a system of four processes.
    hookTimeout: 120_000,
    // What a test waits for comes in milliseconds, or in seconds where the machine has other work.
    expect: { poll: { timeout: pollMs } },
    reporters: ['default', 'json'],
    outputFile: { json: '.cache/test-report.json' },
  },
});
