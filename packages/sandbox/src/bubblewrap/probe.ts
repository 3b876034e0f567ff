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
import type { CapabilityReport, Enforcement } from '../port.ts';
import { runCommand } from '../run-command.ts';
import type { Driver } from '../tree.ts';

const NO_CAPABILITIES = '0000000000000000';

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
export async function probe(deps: ProbeDeps): Promise<CapabilityReport> {
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
    const report = emptyReport();
    const result = await runCommand(
      { driver: deps.driver, capabilities: report, limits: { wall_ms: 30_000 }, closing: deps.signal, now: deps.now },
      {
        workspace: { id: `probe-${randomUUID()}`, path: workspace, ...deps.owner },
        argv: ['/bin/bash', '-c', selfCheck, 'self-check', canary, String(listener.port)],
        signal: deps.signal,
      },
    );
    deps.signal.throwIfAborted();
    const found = new Map(
      result.stdout.text.split('\n').map((line) => line.split('=', 2) as [string, string | undefined]),
    );
    return judge(report, found, {
      ...deps,
      connected: listener.connected(),
      writtenBy: statSync(join(workspace, 'written'), { throwIfNoEntry: false })?.uid,
      complaint: result.stderr.text.trim().slice(0, 500),
    });
  } finally {
    listener.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Outside extends Pick<ProbeDeps, 'root' | 'owner' | 'hasFilter'> {
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
  notes.push(
    'Memory is limited per process (RLIMIT_DATA), not per command; a cgroup would close this.',
    'CPU time is limited per process (RLIMIT_CPU), not per command; a cgroup would close this.',
    'Disk use is limited per file (RLIMIT_FSIZE), not per workspace; a quota on the data directory would close this.',
  );
  return { ...report, fs, net, pids, seccomp, uid_drop, memory: 'partial', cpu: 'partial', disk: 'partial', notes };
}

function emptyReport(): CapabilityReport {
  const absent = 'absent' as const;
  return {
    driver: 'bubblewrap',
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
