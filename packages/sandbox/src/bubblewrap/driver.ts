import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { outputsFolder } from '@holdpoint/contract';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { type CgroupLimits, type Cgroups, openCgroups } from '../cgroup/cgroups.ts';
import * as processes from '../process/index.ts';
import { Starter } from '../starter/starter.ts';
import { type Driver, type ReadOnlyMount, SandboxError } from '../tree.ts';
import type { WalkUnreadable } from '../workspace-size/sizes.ts';
import { findHostTools } from './host-tools.ts';
import { type LaunchDeps, launch } from './launch.ts';
import { collectMounts, holdpointDirectory } from './mounts.ts';
import { findOrphans } from './profile.ts';
import { buildFilter } from './seccomp.ts';
import { Spares, type SparesOptions } from './spares.ts';

export function bubblewrapDriver(input: Omit<LaunchDeps, 'remapScript' | 'viewScript'>): Driver {
  const script = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const deps = { ...input, remapScript: script('mount-remap.sh'), viewScript: script('mount-view.sh') };
  return {
    name: 'bubblewrap',
    cgroupLimits: deps.cgroups?.limits ?? null,
    prepared: (command) => deps.spares.settled(command),
    spares: () => deps.spares.counts,
    async release() {
      await deps.spares.close();
      await deps.pipes.close();
      await deps.cgroups?.settled();
      await deps.starter.close();
    },
    start: (request) => launch(deps, request),
    findOrphans,
    freeze: (trees) => processes.freezeDescendants(trees.flatMap(firstInside)),
    thaw: async (trees) => processes.thawDescendants(trees.flatMap(firstInside)),
    walkUnreadable: deps.root ? undefined : walkUnreadableWith(deps.tools),
    root: () => '/workspace',
    outputs: () => outputsFolder,
    node: `${holdpointDirectory}/node/bin/node`,
    ripgrep: `${holdpointDirectory}/bin/rg`,
    toolHost: `${holdpointDirectory}/inside/tool-host/main.ts`,
    toolHostFiles: deps.mounts.toolHost,
    toolchains: deps.mounts.toolchains,
    pathInside,
  };
}

/**
 * The sandbox's first process, the reaper of all others. A tree recorded without its first process is still in the set-up, so its command
 * has not begun.
 */
function firstInside([, first]: readonly ProcessIdentity[]): ProcessIdentity[] {
  return first && isAlive(first) ? [first] : [];
}

function pathInside(path: string, files: readonly ReadOnlyMount[]): string {
  const mount = files.find(({ host }) => path === host || path.startsWith(`${host}/`));
  if (mount === undefined) throw new TypeError(`no mount has ${path}`);
  return mount.inside + path.slice(mount.host.length);
}

/** A tree with a longer walk counts as larger than any limit. */
const timeoutMs = 10_000;
const program = fileURLToPath(new URL('../workspace-size/print-walk.ts', import.meta.url));

/**
 * Measures a tree in a separate user namespace, where the worker's user may pass every directory of its own, whatever the mode. A chmod of
 * the directories would disturb a command relying on their modes.
 */
function walkUnreadableWith(tools: { bwrap: string }): WalkUnreadable {
  return (path, enough) =>
    new Promise((resolve) => {
      const namespace = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-drop', 'ALL'];
      const rights = ['--cap-add', 'CAP_DAC_READ_SEARCH', '--die-with-parent', '--ro-bind', '/', '/', '--'];
      execFile(
        tools.bwrap,
        [...namespace, ...rights, process.execPath, program, path, String(enough)],
        { env: {}, timeout: timeoutMs, killSignal: 'SIGKILL' },
        (error, stdout) => {
          const [bytes, unreadable] = stdout.split(' ');
          if (error?.killed) resolve(Number.POSITIVE_INFINITY);
          else resolve(error || unreadable !== 'false' ? null : Number(bytes));
        },
      );
    });
}

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
  host: HostParts & { records: processes.ProcessRecords; freezeLocks: processes.FreezeLocks },
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
  const pipes = new processes.PipePool({ mkfifo: tools.mkfifo, directory: host.stateDir, starter });
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
