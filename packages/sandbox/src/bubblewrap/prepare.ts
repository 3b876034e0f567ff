import { type CgroupLimits, type Cgroups, openCgroups } from '../cgroup/cgroups.ts';
import { type FreezeLocks, PipePool, type ProcessRecords } from '../process/index.ts';
import { Starter } from '../starter/starter.ts';
import { type Driver, SandboxError } from '../tree.ts';
import { bubblewrapDriver } from './driver.ts';
import { findHostTools } from './host-tools.ts';
import { collectMounts } from './mounts.ts';
import { buildFilter } from './seccomp.ts';
import { Spares, type SparesOptions } from './spares.ts';

/** A driver before the boot check. */
export interface Candidate {
  driver: Driver;
  /** Whether the driver runs programs behind a system call filter. */
  hasFilter: boolean;
  /** Returns a driver relying on these control group limits only. */
  withOnly(limits: CgroupLimits): Promise<Driver>;
}

/** Settings and programs of the host for every driver. */
export interface HostParts {
  /** The worker's Node, ripgrep and search path. */
  node: string;
  ripgrep: string;
  path: string;
  toolchains: readonly string[];
  /** Directory for this package alone. */
  stateDir: string;
  tmpBytes: number;
  /** Whether the worker is root. */
  root: boolean;
}

/** Throws `SandboxError` ESANDBOXMISSING when this host has no bubblewrap. */
export function prepareBubblewrap(
  host: HostParts & { records: ProcessRecords; freezeLocks: FreezeLocks },
  options: {
    bwrapCandidates: readonly string[];
    unpackedBwrap: string | undefined;
    unixSockets: boolean;
    cgroups: boolean;
    spares: SparesOptions;
  },
): Candidate {
  if (process.platform !== 'linux') {
    throw new SandboxError('ESANDBOXMISSING', `There is no bubblewrap for ${process.platform}.`, {
      retryable: false,
      next: 'Run the worker on Linux (a virtual machine or a container will do), or allow unsandboxed commands.',
    });
  }
  const filter = buildFilter(process.arch, { unixSockets: options.unixSockets });
  const tools = findHostTools({ ...options, path: host.path });
  const starter = new Starter(tools);
  const pipes = new PipePool({ mkfifo: tools.mkfifo, directory: host.stateDir, starter });
  const mounts = collectMounts(host);
  const all = options.cgroups ? openCgroups() : null;
  const open = (cgroups: Cgroups | null, spares: SparesOptions) => {
    const cgroupMemory = cgroups?.limits.memory ?? false;
    const own = buildFilter(process.arch, { unixSockets: options.unixSockets, cgroupMemory });
    return bubblewrapDriver({
      ...{ ...host, tools, filter: own && pipes.lasting(own), starter, pipes, mounts, cgroups },
      spares: new Spares(spares),
    });
  };
  return {
    // The boot check removes its workspace, and a spare would outlive the workspace.
    driver: open(all, { most: 0, idleMs: 0 }),
    hasFilter: filter !== null,
    async withOnly(limits) {
      await Promise.all([all?.settled(), pipes.settled()]);
      return open(all?.withOnly(limits) ?? null, options.spares);
    },
  };
}
