import { randomUUID } from 'node:crypto';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { CapabilityReport, Enforcement } from '@holdpoint/contract';
import type { Held } from './cgroup/cgroups.ts';
import { SpaceGuard } from './disk-space/space-guard.ts';
import { SandboxError } from './errors.ts';
import { probeBounds } from './probe-bounds.ts';
import { runCommand } from './run-command.ts';
import type { Driver } from './tree.ts';
import { WorkspaceSizes } from './workspace-size/sizes.ts';

const DISK =
  'Disk use of a workspace, files without a name included, is looked at ten times a second and at the end, so a command may pass its limit for ' +
  'a moment; where it hides what it holds, all space that the disk loses counts as its own.';
const NO_CAPABILITIES = '0000000000000000';
/** Looking around takes 0.2 s of a processor. A host that does not give it so much by then is too busy to be judged. */
const LONGEST_MS = 120_000;

export interface ProbeDeps {
  driver: Driver;
  stateDir: string;
  /** Whether the worker is root; then `owner` is another user. */
  root: boolean;
  owner: { uid: number; gid: number };
  hasFilter: boolean;
  signal: AbortSignal;
  now(): number;
}

/**
 * Runs the real profile on a throw-away workspace and lets it look around. Throws `SandboxError` ESANDBOXSETUP when it does not start.
 */
export async function probe(deps: ProbeDeps): Promise<{ report: CapabilityReport; held: Held }> {
  mkdirSync(deps.stateDir, { recursive: true, mode: 0o700 });
  const directory = mkdtempSync(join(deps.stateDir, 'probe-'));
  const canary = join(directory, 'canary');
  const workspace = join(directory, 'workspace');
  writeFileSync(canary, 'visible');
  mkdirSync(workspace, { mode: 0o700 });
  if (deps.root) chownSync(workspace, deps.owner.uid, deps.owner.gid);
  const selfCheck = readFileSync(new URL('self-check.sh', import.meta.url), 'utf8');
  const listener = await listen();
  try {
    const mount = { id: `probe-${randomUUID()}`, path: workspace, ...deps.owner };
    const report = emptyReport(deps.driver);
    const looking = runCommand(
      {
        ...{ driver: deps.driver, capabilities: report, sizes: new WorkspaceSizes(deps.now), now: deps.now },
        ...{
          limits: { wall_ms: LONGEST_MS },
          closing: deps.signal,
          guard: new SpaceGuard({ floor: 0, now: deps.now }),
        },
      },
      {
        workspace: mount,
        argv: ['/bin/bash', '-c', selfCheck, 'self-check', canary, String(listener.port)],
        signal: deps.signal,
      },
    );
    const [looked, bounded] = await Promise.allSettled([looking, probeBounds(deps, mount)]);
    deps.signal.throwIfAborted();
    if (looked.status === 'rejected') throw looked.reason;
    if (looked.value.end.status === 'timed_out') throw tooSlow();
    const held = bounded.status === 'fulfilled' ? bounded.value : { memory: false, processes: false, cpu: false };
    const found = new Map(
      looked.value.stdout.text.split('\n').map((line) => line.split('=', 2) as [string, string | undefined]),
    );
    const judged = judge(report, found, {
      ...deps,
      held,
      connected: listener.connected(),
      writtenBy: statSync(join(workspace, 'written'), { throwIfNoEntry: false })?.uid,
      complaint: looked.value.stderr.text.trim().slice(0, 500),
    });
    return { report: judged, held };
  } finally {
    listener.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function tooSlow(): SandboxError {
  return new SandboxError('ESANDBOXSETUP', `The check of the sandbox did not end within ${LONGEST_MS / 1000} s.`, {
    retryable: true,
    next: 'Start again when this host is less busy.',
  });
}

interface Outside extends Pick<ProbeDeps, 'driver' | 'root' | 'owner' | 'hasFilter'> {
  held: Held;
  connected: boolean;
  writtenBy: number | undefined;
  complaint: string;
}

/** Every promise needs all of its findings; a finding that is not there counts against it. */
function judge(
  report: CapabilityReport,
  found: ReadonlyMap<string, string | undefined>,
  outside: Outside,
): CapabilityReport {
  const notes: string[] = [];
  const is = (name: string, expected: string) => found.get(name) === expected;
  const separate = (namespace: string) => {
    const value = found.get(namespace);
    return value?.startsWith(`${namespace}:[`) === true && value !== readlinkSync(`/proc/self/ns/${namespace}`);
  };
  const require = (promise: string, facts: Record<string, boolean>): Enforcement => {
    const missing = Object.entries(facts)
      .filter(([, holds]) => !holds)
      .map(([fact]) => fact);
    if (missing.length === 0) return 'enforced';
    notes.push(`${promise} is not enforced; it failed on: ${missing.join(', ')}. ${outside.complaint}`.trim());
    return 'absent';
  };
  const privileges = {
    'no capabilities': ['CapEff', 'CapPrm', 'CapBnd'].every((set) => is(set, NO_CAPABILITIES)),
    'no new privileges': is('NoNewPrivs', '1'),
    'user namespace': separate('user'),
    'no further namespaces': is('unshares', 'no'),
  };
  const fs = require('Filesystem isolation', {
    ...privileges,
    'mount namespace': separate('mnt'),
    'host files invisible': is('sees_host', 'no') && is('shadow', 'no'),
    'read-only system': ['write_root', 'write_usr', 'write_dev', 'core_pattern'].every((name) => is(name, 'no')),
    'no host file that a process leads to can be changed': is('reaches_host', 'no'),
    'only stdio inherited': is('extra_descriptors', 'no'),
    'writable workspace': is('workspace', 'yes') && outside.writtenBy !== undefined,
    'node and ripgrep run': is('node', 'yes') && is('ripgrep', 'yes'),
  });
  const net = require('Network isolation', {
    'network namespace': separate('net'),
    'no connection to the host': is('connects', 'no') && !outside.connected,
  });
  const pids = require('Process isolation', {
    ...privileges,
    'pid namespace': separate('pid') && separate('ipc') && separate('uts'),
    'no environment of the host': is('first_environment', 'no'),
  });
  const seccomp = outside.hasFilter
    ? require('The system call filter', { 'filter mode': is('Seccomp', '2') })
    : require('The system call filter', { [`a filter for ${process.arch}`]: false });
  const uid_drop = require('Running as another user than root', {
    'files belong to the workspace owner':
      outside.writtenBy !== 0 && (!outside.root || outside.writtenBy === outside.owner.uid),
  });
  return { ...report, fs, net, pids, seccomp, uid_drop, ...judgeBounds(outside, notes), notes };
}

/** Bounds of whole commands count as enforced when they were seen to strike, in part where only those of single processes hold. */
function judgeBounds({ driver, held }: Outside, notes: string[]): Pick<CapabilityReport, 'memory' | 'cpu' | 'disk'> {
  const why = driver.held
    ? 'a control group was tried and did not hold it'
    : 'a control group would close this: run the worker as root, or in a systemd unit with Delegate=yes and DelegateSubgroup=worker';
  if (!held.memory) {
    notes.push(
      'Memory of a command is looked at ten times a second and the command killed when it is past its limit, so it may pass it for a ' +
        `moment; what the kernel keeps for it is counted in part (page tables, buffers, files in memory); private memory of one process has a hard limit; ${why}.`,
    );
  }
  if (!held.cpu) notes.push(`CPU time is limited per process (RLIMIT_CPU), not per command; ${why}.`);
  notes.push(DISK);
  return { memory: held.memory ? 'enforced' : 'partial', cpu: held.cpu ? 'enforced' : 'partial', disk: 'partial' };
}

function emptyReport({ name }: Driver): CapabilityReport {
  const absent = 'absent' as const;
  return {
    driver: name,
    ...{
      fs: absent,
      net: absent,
      pids: absent,
      memory: absent,
      cpu: absent,
      disk: absent,
      seccomp: absent,
      uid_drop: absent,
    },
    notes: [],
  };
}

async function listen() {
  let connected = false;
  const server = createServer((socket) => {
    connected = true;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, connected: () => connected, close: () => server.close() };
}
