import { randomUUID } from 'node:crypto';
import {
  chownSync,
  copyFileSync,
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
import type { CgroupLimits } from './cgroup/cgroups.ts';
import { SpaceGuard } from './disk-space/space-guard.ts';
import { probeCgroupLimits } from './probe-cgroup-limits.ts';
import { type RunDeps, runCommand } from './run-command.ts';
import { type Driver, SandboxError, type WorkspaceMount } from './tree.ts';
import { WorkspaceSizes } from './workspace-size/sizes.ts';

/**
 * A script to try the wall: a read-only command must not write or start a program of the tree, and must find exactly three programs in each
 * of two folders.
 */
const line = `
shopt -s nullglob
: >/workspace/wall 2>/dev/null && echo wrote
cat /workspace/program >/tmp/program && for loader in /lib64/ld-*.so* /lib/ld-*.so*; do
  "$loader" /tmp/program && echo started
  "$loader" /workspace/program && echo started
done 2>/dev/null
/workspace/program 2>/dev/null && echo started
programs=(/usr/bin/* /usr/local/bin/*)
printf '%s\n' "\${#programs[@]}"`;
/** bash, sh and cat, in /usr/bin and behind its link. */
const expected = '6\n';

/** Runs a command behind the wall. @returns the reason for having no wall on this host; null when the wall holds */
async function probeWall(
  deps: RunDeps,
  { workspace, signal }: { workspace: WorkspaceMount; signal: AbortSignal },
): Promise<string | null> {
  const tried = runCommand(deps, { workspace, only: ['cat'], argv: ['/bin/bash', '-c', line], signal });
  const result = await tried.catch((error: unknown) => String(error));
  if (typeof result === 'string') return result;
  if (result.end.status === 'exited' && result.stdout.text === expected) return null;
  return `It failed on ${JSON.stringify(result.stdout.text.slice(0, 200))}. ${result.stderr.text.trim().slice(0, 300)}`;
}

/** Adds a note to the report of a host without a wall. */
const withWall = (report: CapabilityReport, why: string | null): CapabilityReport =>
  why === null
    ? report
    : { ...report, notes: [...report.notes, `Lines that only read run as others do, with snapshots: no wall. ${why}`] };

const diskNote =
  'Disk use of a workspace, including files without a name, is measured ten times a second and at the end, so a command may exceed ' +
  'its limit for a moment. A command that hides its files is charged with all space that the disk loses.';
const noCapabilities = '0000000000000000';
/** The self-check takes 0.2 s of CPU time. A slower host is too busy for a judgement. */
const timeoutMs = 120_000;

export interface ProbeDeps {
  driver: Driver;
  stateDir: string;
  /** Whether the worker is root. `owner` is then another user. */
  root: boolean;
  owner: { uid: number; gid: number };
  hasFilter: boolean;
  signal: AbortSignal;
  now(): number;
}

/**
 * Runs a self-check under the real profile on a temporary workspace. Throws `SandboxError` ESANDBOXSETUP when the self-check does not start
 * or times out.
 */
export async function probe(
  deps: ProbeDeps,
): Promise<{ report: CapabilityReport; cgroupLimits: CgroupLimits; walls: boolean }> {
  mkdirSync(deps.stateDir, { recursive: true, mode: 0o700 });
  const directory = mkdtempSync(join(deps.stateDir, 'probe-'));
  const canary = join(directory, 'canary');
  const workspace = join(directory, 'workspace');
  const walled = join(directory, 'walled');
  writeFileSync(canary, 'visible');
  mkdirSync(workspace, { mode: 0o700 });
  mkdirSync(walled, { mode: 0o700 });
  copyFileSync('/bin/true', join(walled, 'program'));
  if (deps.root) for (const path of [workspace, walled]) chownSync(path, deps.owner.uid, deps.owner.gid);
  const selfCheck = readFileSync(new URL('self-check.sh', import.meta.url), 'utf8');
  const listener = await listen();
  try {
    const mount = { id: `probe-${randomUUID()}`, path: workspace, ...deps.owner };
    const report = absentReport(deps.driver.name);
    const running = {
      ...{ driver: deps.driver, capabilities: report, sizes: new WorkspaceSizes(deps.now), now: deps.now },
      ...{ limits: { wall_ms: timeoutMs }, closing: deps.signal, guard: new SpaceGuard({ floor: 0, now: deps.now }) },
    };
    const checking = runCommand(running, {
      workspace: mount,
      argv: ['/bin/bash', '-c', selfCheck, 'self-check', canary, String(listener.port)],
      signal: deps.signal,
    });
    const behindWall = { workspace: { ...mount, id: `${mount.id}-wall`, path: walled }, signal: deps.signal };
    const walling = probeWall(running, behindWall);
    const [checked, limited] = await Promise.allSettled([checking, probeCgroupLimits(deps, mount), walling]);
    const noWall = await walling;
    deps.signal.throwIfAborted();
    if (checked.status === 'rejected') throw checked.reason;
    if (checked.value.end.status === 'timed_out') throw tooSlow();
    const cgroupLimits =
      limited.status === 'fulfilled' ? limited.value : { memory: false, processes: false, cpu: false };
    const found = new Map(
      checked.value.stdout.text.split('\n').map((line) => line.split('=', 2) as [string, string | undefined]),
    );
    const judged = judge(report, found, {
      ...deps,
      cgroupLimits,
      connected: listener.connected(),
      writtenBy: statSync(join(workspace, 'written'), { throwIfNoEntry: false })?.uid,
      complaint: checked.value.stderr.text.trim().slice(0, 500),
    });
    return { report: withWall(judged, noWall), cgroupLimits, walls: noWall === null };
  } finally {
    listener.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function tooSlow(): SandboxError {
  return new SandboxError('ESANDBOXSETUP', `The check of the sandbox did not end within ${timeoutMs / 1000} s.`, {
    retryable: true,
    next: 'Start again when this host is less busy.',
  });
}

interface HostFindings extends Pick<ProbeDeps, 'driver' | 'root' | 'owner' | 'hasFilter'> {
  cgroupLimits: CgroupLimits;
  connected: boolean;
  writtenBy: number | undefined;
  complaint: string;
}

/** A promise is enforced only if the self-check printed all its findings, with the expected values. */
function judge(
  report: CapabilityReport,
  found: ReadonlyMap<string, string | undefined>,
  host: HostFindings,
): CapabilityReport {
  const notes: string[] = [];
  const is = (name: string, expected: string) => found.get(name) === expected;
  const separate = (namespace: string) => {
    const value = found.get(namespace);
    return value?.startsWith(`${namespace}:[`) === true && value !== readlinkSync(`/proc/self/ns/${namespace}`);
  };
  const require = (promise: string, facts: Record<string, boolean>): Enforcement => {
    const missing = Object.entries(facts)
      .filter(([, isTrue]) => !isTrue)
      .map(([fact]) => fact);
    if (missing.length === 0) return 'enforced';
    notes.push(`${promise} is not enforced. It failed on: ${missing.join(', ')}. ${host.complaint}`.trim());
    return 'absent';
  };
  const privileges = {
    'no capabilities': ['CapEff', 'CapPrm', 'CapBnd'].every((set) => is(set, noCapabilities)),
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
    'writable workspace': is('workspace', 'yes') && host.writtenBy !== undefined,
    'node and ripgrep run': is('node', 'yes') && is('ripgrep', 'yes'),
  });
  const net = require('Network isolation', {
    'network namespace': separate('net'),
    'no connection to the host': is('connects', 'no') && !host.connected,
  });
  const pids = require('Process isolation', {
    ...privileges,
    'pid namespace': separate('pid') && separate('ipc') && separate('uts'),
    'no environment of the host': is('first_environment', 'no'),
  });
  const seccomp = host.hasFilter
    ? require('The system call filter', { 'filter mode': is('Seccomp', '2') })
    : require('The system call filter', { [`a filter for ${process.arch}`]: false });
  const uid_drop = require('Running as another user than root', {
    'files belong to the workspace owner': host.writtenBy !== 0 && (!host.root || host.writtenBy === host.owner.uid),
  });
  return { ...report, fs, net, pids, seccomp, uid_drop, ...judgeLimits(host, notes), notes };
}

/**
 * Limits of whole commands are enforced if the probe saw the kernel enforce them. They are partial if only limits of single processes
 * apply.
 */
function judgeLimits(
  { driver, cgroupLimits }: HostFindings,
  notes: string[],
): Pick<CapabilityReport, 'memory' | 'cpu' | 'disk'> {
  const why = driver.cgroupLimits
    ? 'a control group did not enforce it in the probe'
    : 'a control group would close this gap: run the worker as root, or in a systemd unit with Delegate=yes and DelegateSubgroup=worker';
  if (!cgroupLimits.memory) {
    notes.push(
      'Memory of a command is measured ten times a second, so it may exceed its limit for a moment before the worker kills it. Kernel memory ' +
        `counts in part (page tables, buffers, files in memory). The private memory of one process has a hard limit; ${why}.`,
    );
  }
  if (!cgroupLimits.cpu) notes.push(`CPU time is limited per process (RLIMIT_CPU), not per command; ${why}.`);
  notes.push(diskNote);
  return {
    memory: cgroupLimits.memory ? 'enforced' : 'partial',
    cpu: cgroupLimits.cpu ? 'enforced' : 'partial',
    disk: 'partial',
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

/** A report without any enforced promise. */
export function absentReport(driver: CapabilityReport['driver'], notes: string[] = []): CapabilityReport {
  const absent = 'absent' as const;
  const files = { fs: absent, disk: absent, uid_drop: absent };
  return { driver, ...files, net: absent, pids: absent, memory: absent, cpu: absent, seccomp: absent, notes };
}
