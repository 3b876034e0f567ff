import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { bubblewrapDriver } from './bubblewrap/driver.ts';
import { gatherEquipment } from './bubblewrap/equipment.ts';
import { findHostTools } from './bubblewrap/host-tools.ts';
import { buildFilter } from './bubblewrap/seccomp.ts';
import { type Cgroups, openCgroups } from './cgroup/cgroups.ts';
import { type OpenSandboxOptions, openSandbox } from './open-sandbox.ts';
import type { Command, CommandResult, Sandbox, WorkspaceMount } from './port.ts';
import { Holds } from './process/holds.ts';
import { PipePool } from './process/pipe-pool.ts';
import { ProcessRecords } from './process/records.ts';
import type { Driver } from './tree.ts';

/** For tests: this host's real sandbox, throw-away workspaces, and a look at the process table. */
export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));
export const isRoot = process.getuid?.() === 0;
export const bwrapCandidates = [join(projectRoot, '.cache/bubblewrap/usr/bin/bwrap')];

export interface TestHost extends AsyncDisposable {
  sandbox: Sandbox;
  /** Removed with everything in it at the end. Other users may pass it. */
  directory: string;
  stateDir: string;
  options: OpenSandboxOptions;
  /** bubblewrap's program. */
  bwrap: string;
  makeWorkspace(parent?: string): WorkspaceMount;
  /** Runs a shell line. */
  run(workspace: WorkspaceMount, line: string, more?: Partial<Command>): Promise<CommandResult>;
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
    run: (workspace, line, rest) =>
      sandbox.run({ workspace, argv: ['/bin/bash', '-c', line], signal: new AbortController().signal, ...rest }),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The driver itself, for tests that put another program in the tool host's place. */
export function openTestDriver(
  stateDir: string,
  cgroups: Cgroups | null = openCgroups(),
  records = new ProcessRecords(stateDir),
): Driver {
  const tools = findHostTools({ bwrapCandidates, path: '/usr/local/bin:/usr/bin:/bin' });
  mkdirSync(stateDir, { recursive: true });
  return bubblewrapDriver({
    tools,
    pipes: new PipePool({ mkfifo: tools.mkfifo, directory: stateDir }),
    cgroups,
    equipment: gatherEquipment({ node: process.execPath, ripgrep: rgPath, toolchains: [] }),
    filter: buildFilter(process.arch, { unixSockets: false }),
    tmpBytes: 1024 * 1024,
    root: isRoot,
    records,
    holds: new Holds(stateDir),
  });
}

/** A word that no other process has among its arguments. */
export function marker(): string {
  return `${process.pid}${randomBytes(6).readUIntBE(0, 6)}`;
}

/** Processes of this host, zombies excepted, that have the word among their arguments. */
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

/** Waits for something that no event announces. Fails loudly after a minute, in which a busy host starts a worker and its commands. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`never held: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
