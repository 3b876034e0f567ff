import type { BigIntStats } from 'node:fs';
import type { Git } from '../host-git/git.ts';
import type { Owner } from '../port/workspaces.ts';
import type { Folder, Leaf } from '../store/objects/index.ts';
import type { Permissions } from './permissions.ts';
import type { Scan } from './scan.ts';

export interface Checkout {
  readonly git: Git;
  /** Finds the already right files; stores nothing. */
  readonly scan: Scan;
  /** Overrides `scan` for some paths. @default `scan` */
  readonly scanAt?: (path: string) => Scan;
  readonly gitDir: string;
  readonly tree: string;
  /** The file system's time, ns. */
  readonly clock: () => bigint;
  /** Owner of the written files; undefined on a host without a change of owners. */
  readonly owner: Owner | undefined;
  /** Whether an entry stays exactly unchanged. */
  readonly keep: (path: string, status: BigIntStats) => boolean;
  /** Called for every written file. */
  readonly onWritten?: (bytes: number, path: string) => void;
  /** Names never written or removed. @default `.git` entries */
  readonly hides?: (name: string) => boolean;
  /** The known content of the tree. @default every entry is looked at */
  readonly known?: KnownTree | undefined;
  /** @default git's own */
  readonly permissions?: Permissions;
  /** The time of this content in the former tree, ns. @default now */
  readonly mtimeOf?: MtimeOf | undefined;
  readonly signal?: AbortSignal;
}

/** Undefined: not known. */
export type MtimeOf = (path: string, oid: string) => bigint | undefined;

/** Known entries of the tree are left alone where the target has the same. */
export interface KnownTree {
  readonly root: Folder;
  /** Whether an entry at or below this path differs from `root`, or has other permissions than the target. */
  readonly isUnsure: (path: string) => boolean;
}

/** A file to write. */
export interface WantedFile {
  path: string;
  leaf: Leaf;
  /** Permission bits; ignored for a link. */
  bits: number;
}
