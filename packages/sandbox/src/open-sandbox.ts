import { existsSync } from 'node:fs';
import { bubblewrapDriver } from './bubblewrap/driver.ts';
import { gatherEquipment } from './bubblewrap/equipment.ts';
import { findHostTools } from './bubblewrap/host-tools.ts';
import { probe } from './bubblewrap/probe.ts';
import { buildFilter } from './bubblewrap/seccomp.ts';
import { SandboxError } from './errors.ts';
import { resolveLimits } from './limits.ts';
import type { CapabilityReport, Limits, Sandbox } from './port.ts';
import { killProcesses } from './process/identity.ts';
import { ProcessRecords } from './process/records.ts';
import { HostSandbox } from './sandbox.ts';
import type { Driver } from './tree.ts';
import { unsandboxedDriver, unsandboxedReport } from './unsandboxed/driver.ts';

export interface OpenSandboxOptions {
  /** `require` refuses a host on which any promise but the resource limits has a gap; `best-effort` needs fs, net and pids. */
  policy: 'require' | 'best-effort';
  /** Run commands without isolation when there is no other way. Nobody but the host's owner may decide this. */
  allowUnsandboxed: boolean;
  /** Absolute path of a directory of this package alone, shared by all workers of the host. Made when missing. */
  stateDir: string;
  /** Where bubblewrap may be, first first; after these the search path. @default [] */
  bwrapPath?: string | readonly string[];
  /** Search path for bwrap, bash, setpriv and unshare. @default the system's directories */
  path?: string;
  /** ripgrep's binary on the host. @default the one of the package @vscode/ripgrep */
  ripgrepPath?: string;
  /** The host's own limits, for commands that do not say otherwise. */
  limits?: Partial<Limits>;
  /** Absolute paths of directories to show read-only at their own path; their `bin` goes on PATH. @default [] */
  toolchains?: readonly string[];
  /** Size of /tmp inside, in bytes. It is memory. @default 64 MiB */
  tmpBytes?: number;
  /** Allow AF_UNIX sockets inside; then a host socket that lies in a workspace can be reached. @default false */
  unixSockets?: boolean;
  /** Who the boot check runs as on a root host. @default uid and gid 200000 */
  probeOwner?: { uid: number; gid: number };
  /** An unused tool host ends after this many milliseconds. @default 60_000 */
  toolHostIdleMs?: number;
  /** A file request may take this many milliseconds. @default 30_000 */
  fileRequestMs?: number;
  logger?: SandboxLogger;
  signal?: AbortSignal;
}

export interface SandboxLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Finds and probes this host's isolation.
 *
 * Throws `SandboxError` ESANDBOXMISSING when there is none, ESANDBOXSETUP when it does not start, ESANDBOXGAP when the policy does not
 * accept what it found.
 *
 * @example
 * await using sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir: '/var/lib/holdpoint/sandbox' });
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox> {
  resolveLimits(options.limits);
  const deps = {
    records: new ProcessRecords(options.stateDir),
    root: process.getuid?.() === 0,
    node: process.execPath,
    ripgrep: await findRipgrep(options.ripgrepPath),
    path: options.path ?? SYSTEM_PATH,
    toolchains: options.toolchains ?? [],
  };
  const { driver, capabilities } = await chooseDriver(deps, options);
  // what a worker left here that was killed with SIGKILL while it started sandboxes: about one in fifty of these
  killProcesses(driver.findOrphans());
  options.logger?.info({ capabilities }, `sandbox driver: ${driver.name}`);
  return new HostSandbox({
    driver,
    capabilities,
    records: deps.records,
    limits: options.limits,
    toolHostIdleMs: options.toolHostIdleMs ?? 60_000,
    fileRequestMs: options.fileRequestMs ?? 30_000,
    now: () => performance.now(),
  });
}

type DriverDeps = Parameters<typeof unsandboxedDriver>[0];

async function chooseDriver(
  deps: DriverDeps,
  options: OpenSandboxOptions,
): Promise<{ driver: Driver; capabilities: CapabilityReport }> {
  try {
    return await openBubblewrap(deps, options);
  } catch (error) {
    if (!(error instanceof SandboxError) || !options.allowUnsandboxed || options.signal?.aborted) throw error;
    options.logger?.warn({ code: error.code, next: error.next }, `commands run without isolation: ${error.message}`);
    return { driver: unsandboxedDriver(deps), capabilities: unsandboxedReport(error.message) };
  }
}

async function openBubblewrap(deps: DriverDeps, options: OpenSandboxOptions) {
  if (process.platform !== 'linux') {
    throw new SandboxError('ESANDBOXMISSING', `There is no isolation driver for ${process.platform}.`, {
      retryable: false,
      next: 'Run the worker on Linux (a virtual machine or a container will do), or allow unsandboxed commands.',
    });
  }
  const filter = buildFilter(process.arch, { unixSockets: options.unixSockets ?? false });
  const driver = bubblewrapDriver({
    tools: findHostTools({ bwrapCandidates: [options.bwrapPath ?? []].flat(), path: deps.path }),
    equipment: gatherEquipment(deps),
    filter,
    tmpBytes: options.tmpBytes ?? 64 * 1024 * 1024,
    root: deps.root,
    records: deps.records,
  });
  const probing = probe({
    driver,
    stateDir: options.stateDir,
    root: deps.root,
    owner: deps.root
      ? (options.probeOwner ?? { uid: 200_000, gid: 200_000 })
      : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    hasFilter: filter !== null,
    signal: options.signal ?? new AbortController().signal,
    now: () => performance.now(),
  });
  const capabilities = await probing.catch((error: unknown) => {
    throw error instanceof SandboxError && error.code === 'ESANDBOXSETUP' ? explain(error) : error;
  });
  const needed = ['fs', 'net', 'pids', ...(options.policy === 'require' ? ['seccomp', 'uid_drop'] : [])] as const;
  const gaps = (needed as readonly (keyof CapabilityReport)[]).filter(
    (promise) => capabilities[promise] !== 'enforced',
  );
  if (gaps.length > 0) {
    throw new SandboxError(
      'ESANDBOXGAP',
      `The sandbox does not enforce ${gaps.join(', ')} here. ${capabilities.notes.join(' ')}`,
      {
        retryable: false,
        next: 'Close the gap (`holdpoint doctor` shows it), or accept gaps in seccomp and uid_drop with the policy best-effort.',
      },
    );
  }
  return { driver, capabilities };
}

/** What fails at boot fails for a reason of the host, which repeating does not change. */
function explain(error: SandboxError): SandboxError {
  const namespaces = /namespace|uid map|Operation not permitted/i.test(error.message);
  return new SandboxError('ESANDBOXSETUP', error.message, {
    retryable: false,
    next: namespaces
      ? 'Let this user make user namespaces: see the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and ' +
        'kernel.apparmor_restrict_unprivileged_userns; in a container, allow them in its seccomp and AppArmor profiles.'
      : error.next,
    cause: error,
  });
}

async function findRipgrep(configured: string | undefined): Promise<string> {
  // @vscode/ripgrep throws on import when its binary is not installed
  const path =
    configured ??
    (await import('@vscode/ripgrep').then(
      (ripgrep) => ripgrep.rgPath,
      () => null,
    ));
  if (path !== null && existsSync(path)) return path;
  throw new SandboxError('ESANDBOXMISSING', `ripgrep was not found${path === null ? '' : ` at ${path}`}.`, {
    retryable: false,
    next: 'Run `npm run setup`, or name its binary with ripgrepPath.',
  });
}
