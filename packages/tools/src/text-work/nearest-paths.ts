import { bigramsOf, likeness } from './likeness.ts';

export interface NearestPathsInput {
  /** The missing path, relative to the root. */
  wanted: string;
  /** The paths of existing files, relative to the root, with a NUL between two. */
  listing: string;
  /** Also finds folders. */
  folders: boolean;
}

/** The existing paths nearest to a missing path, best first; none when no name is like the missing name. Takes linear time. */
export function nearestPaths({ wanted, listing, folders }: NearestPathsInput): string[] {
  const files = listing.split('\0').filter((path) => path !== '' && path !== '.');
  const paths = folders ? [...new Set([...files, ...files.flatMap(foldersOf)])] : files;
  const target = describe(wanted);
  return paths
    .map((path) => ({ path, score: scoreOf(target, describe(path)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, mostShown)
    .map(({ path }) => path);
}

const mostShown = 3;
/** Below, two names have nothing in common but an ending such as `.ts`. */
const leastLike = 0.5;

/** Characters of a name that count: 20,000 names take 0.2 s. */
const longestName = 64;

interface Described {
  name: string;
  pairs: Set<string>;
  stem: Set<string>;
  folders: readonly string[];
}

function describe(path: string): Described {
  const folders = path.toLowerCase().split('/');
  const name = (folders.pop() ?? '').slice(0, longestName);
  const dot = name.lastIndexOf('.');
  return { name, pairs: bigramsOf(name), stem: bigramsOf(dot > 0 ? name.slice(0, dot) : name), folders };
}

/** The name counts twice as much as the folders: a file is moved more often than renamed. */
function scoreOf(wanted: Described, found: Described): number {
  const name = wanted.name === found.name ? 1 : nameLikeness(wanted, found);
  return name < leastLike ? 0 : 2 * name + folderLikeness(wanted.folders, found.folders);
}

/** Names with one character have no pairs. */
const nameLikeness = (wanted: Described, found: Described): number =>
  (likeness(wanted.pairs, found.pairs) + likeness(wanted.stem, found.stem)) / 2;

function folderLikeness(wanted: readonly string[], found: readonly string[]): number {
  if (wanted.length + found.length === 0) return 1;
  const known = new Set(wanted);
  const shared = found.filter((folder) => known.has(folder)).length;
  return (2 * shared) / (wanted.length + found.length);
}

/** The folders that hold a path, without the root. */
const foldersOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));
