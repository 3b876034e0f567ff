import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandResult } from '@holdpoint/contract';
import { rgPath } from '@vscode/ripgrep';
import { afterAll, test as anyTest, beforeAll, expect } from 'vitest';
import { bubblewrapDriver } from '../bubblewrap/driver.ts';
import { findHostTools } from '../bubblewrap/host-tools.ts';
import { collectMounts } from '../bubblewrap/mounts.ts';
import { buildFilter } from '../bubblewrap/seccomp.ts';
import { Spares } from '../bubblewrap/spares.ts';
import { type Cgroups, openCgroups } from '../cgroup/cgroups.ts';
import { type OpenSandboxOptions, openSandbox } from '../open-sandbox.ts';
import { FreezeLocks, PipePool, ProcessRecords } from '../process/index.ts';
import { Starter } from '../starter/starter.ts';
import type { Command, Driver, Sandbox, WorkspaceMount } from '../tree.ts';
import { bwrapPath } from './bwrap-path.ts';

/** For tests: this host's real sandbox, temporary workspaces and the process table. */
export const projectRoot = join(import.meta.dirname, '../../../..');
export const isRoot = process.getuid?.() === 0;
export const bwrapCandidates = [bwrapPath];

/** What the sandbox enforces on every host. */
export const alwaysEnforced = {
  ...{ fs: 'enforced', net: 'enforced', pids: 'enforced', seccomp: 'enforced', uid_drop: 'enforced' },
} as const;

export interface TestHost extends AsyncDisposable {
  sandbox: Sandbox;
  /** Removed at the end. Other users may pass it. */
  directory: string;
  stateDir: string;
  options: OpenSandboxOptions;
  /** Path of bubblewrap. */
  bwrap: string;
  makeWorkspace(parent?: string): WorkspaceMount;
  /** Runs a shell line. */
  run(workspace: WorkspaceMount, line: string, more?: Partial<Command>): Promise<CommandResult>;
  /** Runs a program without a shell. */
  exec(workspace: WorkspaceMount, argv: Command['argv'], more?: Partial<Command>): Promise<CommandResult>;
}

/**
 * A host for all tests of a file, which opens before the first test. It is empty until then. `test` gives a test a workspace of its own and
 * a marker.
 */
export function useTestHost(more?: Partial<OpenSandboxOptions>) {
  const host = {} as TestHost;
  beforeAll(async () => void Object.assign(host, await openTestHost(more)));
  afterAll(() => host[Symbol.asyncDispose]());
  const test = anyTest.extend('workspace', () => host.makeWorkspace()).extend('word', () => marker());
  return { host, test };
}

export async function openTestHost(more: Partial<OpenSandboxOptions> = {}): Promise<TestHost> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-sandbox-'));
  chmodSync(directory, 0o711);
  const stateDir = join(directory, 'state');
  const options = {
    policy: 'require',
    allowUnsandboxed: false,
    stateDir,
    bwrapPath: bwrapCandidates,
    ...more,
  } as const;
  const sandbox = await openSandbox(options);
  let made = 0;
  return {
    sandbox,
    directory,
    stateDir,
    options,
    bwrap: findHostTools({ bwrapCandidates, path: '/usr/local/bin:/usr/bin:/bin' }).bwrap,
    makeWorkspace(parent = directory) {
      made++;
      const path = join(parent, `workspace-${made}`);
      mkdirSync(path, { mode: 0o700 });
      const owner = isRoot
        ? { uid: 210_000 + made, gid: 210_000 + made }
        : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
      chownSync(path, owner.uid, owner.gid);
      return { id: `run_test_${made}`, path, ...owner };
    },
    run: (workspace, line, rest) => runLine(sandbox, workspace, line, rest),
    exec: (workspace, argv, rest) => sandbox.run({ workspace, argv, signal: new AbortController().signal, ...rest }),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Runs a shell line in any sandbox. */
export function runLine(sandbox: Sandbox, workspace: WorkspaceMount, line: string, more?: Partial<Command>) {
  return sandbox.run({ workspace, argv: ['/bin/bash', '-c', line], signal: new AbortController().signal, ...more });
}

/** The driver itself, for tests that replace the tool host with another program. */
export function openTestDriver(
  stateDir: string,
  cgroups: Cgroups | null = openCgroups(),
  records = new ProcessRecords(stateDir),
): Driver {
  const tools = findHostTools({ bwrapCandidates, path: '/usr/local/bin:/usr/bin:/bin' });
  const starter = new Starter(tools);
  const pipes = new PipePool({ mkfifo: tools.mkfifo, directory: stateDir, starter });
  const filter = buildFilter(process.arch, { unixSockets: false });
  return bubblewrapDriver({
    ...{ tools, starter, pipes, filter: filter && pipes.lasting(filter), spares: new Spares({ most: 0, idleMs: 0 }) },
    cgroups,
    mounts: collectMounts({ node: process.execPath, ripgrep: rgPath, toolchains: [] }),
    tmpBytes: 1024 * 1024,
    root: isRoot,
    records,
    freezeLocks: new FreezeLocks(stateDir),
  });
}

/** Expects that a call fails with a code. */
export const rejects = (call: Promise<unknown>, code: string, more: object = {}) =>
  expect(call).rejects.toMatchObject({ code, ...more });

/** A word that appears in no other process's arguments. */
export function marker(): string {
  return `${process.pid}${randomBytes(6).readUIntBE(0, 6)}`;
}

/** Processes of this host, without zombies, that have the word in their arguments. */
export function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
      } catch {
        return false;
      }
    });
}

/** Polls a condition that has no event. Fails after a minute, enough for a busy host to start a worker and its commands. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never true: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
