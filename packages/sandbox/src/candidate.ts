import type { Held } from './cgroup/cgroups.ts';
import type { Driver } from './tree.ts';

/** A driver that is to be put to the test. */
export interface Candidate {
  driver: Driver;
  /** Whether it should run programs behind a system call filter. */
  hasFilter: boolean;
  /** The driver that relies on no other bounds of whole commands than those. */
  withOnly(held: Held): Promise<Driver>;
}

/** What a driver is made of, whichever it is. */
export interface HostParts {
  /** The worker's Node, ripgrep and search path. */
  node: string;
  ripgrep: string;
  path: string;
  toolchains: readonly string[];
  /** Directory of this package alone. */
  stateDir: string;
  tmpBytes: number;
  /** Whether the worker is root. */
  root: boolean;
}
