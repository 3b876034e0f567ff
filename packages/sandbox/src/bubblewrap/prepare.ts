import { type Cgroups, type Held, openCgroups } from '../cgroup/cgroups.ts';
import { SandboxError } from '../errors.ts';
import type { Holds } from '../process/holds.ts';
import { PipePool } from '../process/pipe-pool.ts';
import type { ProcessRecords } from '../process/records.ts';
import type { Driver } from '../tree.ts';
import { bubblewrapDriver } from './driver.ts';
import { gatherEquipment } from './equipment.ts';
import { findHostTools } from './host-tools.ts';
import { buildFilter } from './seccomp.ts';

/** A driver that the boot check has not accepted yet. */
export interface Candidate {
  driver: Driver;
  /** Whether the driver runs programs behind a system call filter. */
  hasFilter: boolean;
  /** A driver that relies on these control group limits only. */
  withOnly(held: Held): Promise<Driver>;
}

/** What the host gives every driver. */
export interface HostParts {
  /** The worker's Node, ripgrep and search path. */
  node: string;
  ripgrep: string;
  path: string;
  toolchains: readonly string[];
  /** Directory that only this package uses. */
  stateDir: string;
  tmpBytes: number;
  /** Whether the worker is root. */
  root: boolean;
}

/** Throws `SandboxError` ESANDBOXMISSING when this host has no bubblewrap. */
export function prepareBubblewrap(
  host: HostParts & { records: ProcessRecords; holds: Holds },
  options: {
    bwrapCandidates: readonly string[];
    unpackedBwrap: string | undefined;
    unixSockets: boolean;
    cgroups: boolean;
  },
): Candidate {
  if (process.platform !== 'linux') {
    throw new SandboxError('ESANDBOXMISSING', `bubblewrap does not exist for ${process.platform}.`, {
      retryable: false,
      next: 'Run the worker on Linux (a virtual machine or a container will do), or allow unsandboxed commands.',
    });
  }
  const filter = buildFilter(process.arch, { unixSockets: options.unixSockets });
  const tools = findHostTools({ ...options, path: host.path });
  const pipes = new PipePool({ mkfifo: tools.mkfifo, directory: host.stateDir });
  const equipment = gatherEquipment(host);
  const all = options.cgroups ? openCgroups() : null;
  const open = (cgroups: Cgroups | null) => {
    const memoryHeld = cgroups?.held.memory ?? false;
    const own = buildFilter(process.arch, { unixSockets: options.unixSockets, memoryHeld });
    return bubblewrapDriver({ ...host, tools, filter: own, pipes, equipment, cgroups });
  };
  return {
    driver: open(all),
    hasFilter: filter !== null,
    async withOnly(held) {
      await all?.settled();
      return open(all?.only(held) ?? null);
    },
  };
}
