import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CapabilityReport, ProcessLimits } from '@holdpoint/contract';
import { type Candidate, type HostParts, prepareBubblewrap } from './bubblewrap/driver.ts';
import { SpaceGuard } from './disk-space/space-guard.ts';
import { IdleProcesses } from './idle-processes.ts';
import { killProcesses } from './kill.ts';
import { resolveLimits } from './limits.ts';
import { absentReport, probe } from './probe.ts';
import { FreezeLocks, ProcessRecords } from './process/index.ts';
import { HostSandbox } from './sandbox.ts';
import { type Driver, type Sandbox, SandboxError } from './tree.ts';
import { unsandboxedDriver } from './unsandboxed/driver.ts';
import { WorkspaceSizes } from './workspace-size/sizes.ts';

export interface OpenSandboxOptions {
  /** `require` refuses a host with a gap in any promise except the resource limits. `best-effort` needs fs, net and pids. */
  policy: 'require' | 'best-effort';
  /** Run commands without isolation when there is no other way. Only the host's owner may decide this. */
  allowUnsandboxed: boolean;
  /** Absolute path of a directory for this package alone, shared by all workers of the host. Created when missing. */
  stateDir: string;
  /** Paths of bubblewrap to try first, in order. @default [] */
  bwrapPath?: string | readonly string[];
  /**
   * Directory of the bubblewrap unpacked by the set-up. Its `bin/bwrap` is used when no bwrap on the search path is new enough and belongs
   * to root. @default none
   */
  unpackedBwrap?: string;
  /** Search path for bwrap, bash, setpriv and unshare. @default the system's directories */
  path?: string;
  /** ripgrep's binary on the host. @default the binary of the package @vscode/ripgrep */
  ripgrepPath?: string;
  /** Default limits of this host. A command may override them. */
  limits?: Partial<ProcessLimits>;
  /** Absolute paths of directories, mounted read-only at their own path. Their `bin` is added to PATH. @default [] */
  toolchains?: readonly string[];
  /** Minimum of free bytes on the disk of a workspace. With less free space, the command writing most is killed. @default 0: no check */
  freeBytes?: number;
  /** Called before a command is killed because the disk has too little space. */
  onLowSpace?(free: number): void;
  /** Size of /tmp inside, in bytes of memory. @default 64 MiB */
  tmpBytes?: number;
  /** Limit whole commands with control groups, if the host allows control groups. @default true */
  cgroups?: boolean;
  /** Allow AF_UNIX sockets inside. Commands can then reach a host socket in their workspace. @default false */
  unixSockets?: boolean;
  /** User of the boot check on a root host. @default uid and gid 200000 */
  probeOwner?: { uid: number; gid: number };
  /** Maximum number of sandboxes waiting for the next command of a workspace; 0: none. @default 4 */
  spares?: number;
  /** A waiting sandbox ends after this many milliseconds without a command. @default 30_000 */
  spareIdleMs?: number;
  /** An idle tool host ends after this many milliseconds. @default 60_000 */
  toolHostIdleMs?: number;
  /**
   * Maximum number of tool hosts and programs of Holdpoint waiting for a request. The process with the longest wait ends first. @default 16
   */
  idleProcesses?: number;
  /** Time-out of a file request in milliseconds. @default 30_000 */
  fileRequestMs?: number;
  logger?: SandboxLogger;
  signal?: AbortSignal;
}

export interface SandboxLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Finds and probes this host's isolation.
 *
 * Throws `SandboxError`: ESANDBOXMISSING when the host lacks a needed program, ESANDBOXSETUP when the isolation does not start, ESANDBOXGAP
 * when the policy does not accept a gap in the isolation.
 *
 * @example
 * await using sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir: '/var/lib/holdpoint/sandbox' });
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox> {
  resolveLimits(options.limits);
  const deps = {
    records: new ProcessRecords(options.stateDir),
    freezeLocks: new FreezeLocks(options.stateDir),
    root: process.getuid?.() === 0,
    node: process.execPath,
    ripgrep: await findRipgrep(options.ripgrepPath),
    path: options.path ?? systemPath,
    toolchains: options.toolchains ?? [],
    stateDir: options.stateDir,
    tmpBytes: options.tmpBytes ?? 64 * 1024 * 1024,
  };
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  const { driver, capabilities, walls } = await chooseDriver(deps, options);
  // SIGKILL to a worker during the start of a sandbox leaves orphans: about one in fifty of these kills does.
  killProcesses(driver.findOrphans());
  options.logger?.info({ capabilities }, `sandbox driver: ${driver.name}`);
  const now = () => performance.now();
  return new HostSandbox({
    ...{
      driver,
      capabilities,
      walls,
      records: deps.records,
      freezeLocks: deps.freezeLocks,
      limits: options.limits,
      now,
    },
    emptyDirectory: join(options.stateDir, 'empty'),
    sizes: new WorkspaceSizes(now),
    guard: new SpaceGuard({ floor: options.freeBytes ?? 0, now, onLow: options.onLowSpace }),
    toolHostIdleMs: options.toolHostIdleMs ?? 60_000,
    idle: new IdleProcesses(options.idleProcesses ?? 16),
    fileRequestMs: options.fileRequestMs ?? 30_000,
  });
}

type Deps = HostParts & { records: ProcessRecords; freezeLocks: FreezeLocks };

/** A driver accepted by the boot check. */
interface Chosen {
  driver: Driver;
  capabilities: CapabilityReport;
  walls: boolean;
}

async function chooseDriver(deps: Deps, options: OpenSandboxOptions): Promise<Chosen> {
  try {
    return await probeCandidate(prepare(deps, options), options);
  } catch (error) {
    if (!(error instanceof SandboxError) || !options.allowUnsandboxed || options.signal?.aborted) throw error;
    options.logger?.warn({ code: error.code, next: error.next }, `commands run without isolation: ${error.message}`);
    const note = `Commands run without isolation, as allowUnsandboxed permits. ${error.message}`;
    return { driver: unsandboxedDriver(deps), capabilities: absentReport('none', [note]), walls: false };
  }
}

function prepare(deps: Deps, options: OpenSandboxOptions): Candidate {
  return prepareBubblewrap(deps, {
    bwrapCandidates: [options.bwrapPath ?? []].flat(),
    unpackedBwrap: options.unpackedBwrap,
    unixSockets: options.unixSockets ?? false,
    cgroups: options.cgroups ?? true,
    spares: { most: options.spares ?? 4, idleMs: options.spareIdleMs ?? 30_000 },
  });
}

const basicPromises = ['fs', 'net', 'pids'] as const;
const promises = [...basicPromises, 'seccomp', 'uid_drop'] as const;

/** Whether the sandbox keeps every promise except the resource limits. */
export const isIsolated = (capabilities: CapabilityReport): boolean =>
  promises.every((promise) => capabilities[promise] === 'enforced');

/** Probes the candidate. The returned driver relies only on the limits enforced during the probe. */
async function probeCandidate(candidate: Candidate, options: OpenSandboxOptions): Promise<Chosen> {
  const root = process.getuid?.() === 0;
  const probing = probe({
    ...{ driver: candidate.driver, hasFilter: candidate.hasFilter, stateDir: options.stateDir, root },
    owner: root
      ? (options.probeOwner ?? { uid: 200_000, gid: 200_000 })
      : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    signal: options.signal ?? new AbortController().signal,
    now: () => performance.now(),
  });
  const {
    report: capabilities,
    cgroupLimits,
    walls,
  } = await probing.catch(async (error: unknown) => {
    await candidate.driver.release();
    throw error instanceof SandboxError && error.code === 'ESANDBOXSETUP' ? explain(error) : error;
  });
  const driver = await candidate.withOnly(cgroupLimits);
  const gaps = (options.policy === 'require' ? promises : basicPromises).filter(
    (promise) => capabilities[promise] !== 'enforced',
  );
  if (gaps.length === 0) return { driver, capabilities, walls };
  await driver.release();
  throw new SandboxError(
    'ESANDBOXGAP',
    `The sandbox does not enforce ${gaps.join(', ')} here. ${capabilities.notes.join(' ')}`,
    {
      retryable: false,
      next: 'Close the gap (`holdpoint doctor` shows it), or accept gaps in seccomp and uid_drop with the policy best-effort.',
    },
  );
}

/** A failure at boot has its cause in the host, so a retry does not help. */
function explain(error: SandboxError): SandboxError {
  const namespaces = /namespace|uid map|Operation not permitted/i.test(error.message);
  return new SandboxError('ESANDBOXSETUP', error.message, {
    retryable: false,
    next: namespaces
      ? 'Allow this user to create user namespaces: see the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and ' +
        'kernel.apparmor_restrict_unprivileged_userns; in a container, allow them in its seccomp and AppArmor profiles.'
      : error.next,
    cause: error,
  });
}

async function findRipgrep(configured: string | undefined): Promise<string> {
  // @vscode/ripgrep throws on import when its binary is not installed.
  const path =
    configured ??
    (await import('@vscode/ripgrep').then(
      (ripgrep) => ripgrep.rgPath,
      () => null,
    ));
  if (path !== null && existsSync(path)) return path;
  throw new SandboxError('ESANDBOXMISSING', `ripgrep was not found${path === null ? '' : ` at ${path}`}.`, {
    retryable: false,
    next: 'Run `npm run setup`, or set ripgrepPath.',
  });
}
