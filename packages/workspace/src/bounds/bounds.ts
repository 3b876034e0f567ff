import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { mountAliases, rebasePath } from './mounts.ts';
import { isWithin, listPathRules, type PathRule, reasonClosed } from './path-rules.ts';

/** Where sources may lie and where a publish may write, for every submitter. */
export interface Bounds {
  /**
   * Throws when a place is out of bounds, whatever its spelling: links, mounts and `/proc` are resolved first.
   * @param path of something that exists, absolute
   * @param use `publish`: what is published is also read, so both bounds hold
   */
  assert(path: string, use: Use): void;
  /** Opens a directory or file and checks what was opened, so that nothing can be put in its place afterwards. */
  open(path: string, use: Use): OpenPath;
}

export type Use = 'source' | 'publish';

/** A directory or file that stays the same one, whatever becomes of its path. */
export interface OpenPath {
  /** Leads to it for this process and its children, as long as it is open. */
  readonly path: string;
  /** Where it lay when it was opened. */
  readonly real: string;
  [Symbol.dispose](): void;
}

/** The operator's settings. Undefined: everything but what is never open. */
export interface Roots {
  sourceRoots?: readonly string[] | undefined;
  publishRoots?: readonly string[] | undefined;
}

/** @param input.dataDir real path */
export function createBounds({ dataDir, sourceRoots, publishRoots }: Roots & { dataDir: string }): Bounds {
  const assertReal = (real: string, use: Use, asked: string): void => {
    const look = resolvePath(real, asked);
    if (isBelow(look, dataDir)) {
      throw new WorkspaceError('ESOURCEINDATADIR', `${asked} lies in the data directory.`);
    }
    const reason = reasonAgainst(look);
    if (reason !== undefined) throw refusal(use, `${describePath(look)} is never open to runs: ${reason}.`);
    assertRoots(look, use, sourceRoots, 'HOLDPOINT_SOURCE_ROOTS');
    if (use === 'publish') assertRoots(look, use, publishRoots, 'HOLDPOINT_PUBLISH_ROOTS');
  };
  return {
    assert: (path, use) => assertReal(realpathSync(path), use, path),
    open: (path, use) => {
      const opened = openPath(path);
      try {
        assertReal(opened.real, use, path);
        return opened;
      } catch (error) {
        opened[Symbol.dispose]();
        throw error;
      }
    },
  };
}

interface ResolvedPath {
  real: string;
  /** The real path, and the same place by other mounts. */
  aliases: readonly string[];
  /** Device and inode of the place and of every directory above it. */
  above: readonly string[];
  asked: string;
}

const describePath = ({ real, asked }: ResolvedPath): string => (real === asked ? asked : `${asked} (${real})`);

const refusal = (use: Use, message: string): WorkspaceError =>
  new WorkspaceError(use === 'source' ? 'ESOURCEFORBIDDEN' : 'EPUBLISHFORBIDDEN', message);

function resolvePath(real: string, asked: string): ResolvedPath {
  const above = foldersAbove(real);
  return { real, asked, aliases: [real, ...mountAliases(real)], above: above.map(({ identity }) => identity) };
}

function reasonAgainst({ real, aliases }: ResolvedPath): string | undefined {
  const places = withRealPaths(listPathRules());
  for (const path of [...aliases, ...aliasesByIdentity(places, real)]) {
    const reason = reasonClosed(places, path);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** A rule that a link names holds for what the link leads to, too: `/var/roothome` for `/root`, `/usr/lib` for `/lib`. */
function withRealPaths(places: readonly PathRule[]): PathRule[] {
  return places.flatMap((one) => {
    const real = realOf(one.path);
    return real === undefined || real === one.path ? [one] : [one, { ...one, path: real }];
  });
}

/** A directory above that is one with a rule, whatever its name, gives the path that the rule is for. */
function aliasesByIdentity(places: readonly PathRule[], real: string): string[] {
  const byIdentity = new Map(places.map(({ path }) => [identityOf(path), path]));
  return foldersAbove(real).flatMap(({ path, identity }) => {
    const named = byIdentity.get(identity);
    return named === undefined || named === path ? [] : [rebasePath(named, real, path)];
  });
}

function assertRoots(look: ResolvedPath, use: Use, roots: readonly string[] | undefined, setting: string): void {
  if (roots === undefined || roots.some((root) => isBelow(look, realOf(root) ?? root))) return;
  throw refusal(use, `${describePath(look)} is outside of ${setting} (${roots.join(':')}).`);
}

/** Whether a place is a directory or lies in it. */
function isBelow({ aliases, above }: ResolvedPath, folder: string): boolean {
  const identity = identityOf(folder);
  return aliases.some((path) => isWithin(path, folder)) || (identity !== undefined && above.includes(identity));
}

/** The place itself first, then every directory above it. */
function foldersAbove(real: string): { path: string; identity: string }[] {
  const folders: { path: string; identity: string }[] = [];
  for (let path = real; ; path = dirname(path)) {
    const identity = identityOf(path);
    if (identity !== undefined) folders.push({ path, identity });
    if (path === '/') return folders;
  }
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function openPath(path: string): OpenPath {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const close = { [Symbol.dispose]: () => closeSync(fd) };
  try {
    // By pid, not `self`: children are given the path, too.
    const own = `/proc/${process.pid}/fd/${fd}`;
    const real = realOfOpen(own) ?? realpathSync(path);
    const [seen, opened] = [statSync(real, { bigint: true }), fstatSync(fd, { bigint: true })];
    if (seen.dev !== opened.dev || seen.ino !== opened.ino) {
      throw new WorkspaceError('ESOURCEBUSY', `${path} was moved while it was looked at.`);
    }
    return { path: process.platform === 'linux' ? own : real, real, ...close };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function realOfOpen(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
