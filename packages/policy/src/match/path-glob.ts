import { posix } from 'node:path';
import { compileGlob, type Glob, GlobError, type Pieces } from './glob.ts';
import { and, or, type Truth } from './truth.ts';

/** A path of a call. */
export interface TouchedPath {
  /**
   * Relative to the workspace. A `null` piece is unknown: alone, any path; behind a text, even an empty text, names within the folders
   * before.
   */
  path: string | Pieces;
  access: 'read' | 'write' | 'delete';
  /** The call also reaches the content below the path. */
  recursive?: boolean | undefined;
}

export interface PathGlob {
  source: string;
  test(touched: TouchedPath): Truth;
}

/** `./src` and `src/` mean `src`. @throws GlobError */
export function compilePathGlob(source: string): PathGlob {
  if (/\/\/|\/\.(\/|$)|(^|\/)(?!\.\.\/)[^/]+\/\.\.(\/|$)/.test(source)) {
    throw new GlobError('has a `..`, a `.` or a second slash in it, and paths are compared in their shortest spelling');
  }
  const glob = compileGlob(source.replace(/^(\.\/)+/, '').replace(/(.)\/+$/, '$1'));
  const namesOutside = /^(\.\.|\/|~)/.test(source);
  return {
    source,
    test(touched) {
      const pieces = piecesOf(touched);
      const found: Truth = touched.recursive ? testTree(glob, pieces) : glob.testPieces(pieces);
      return namesOutside || !leaves(pieces) ? found : and('maybe', found);
    },
  };
}

/** A glob over all content of a folder covers the folder. */
function testTree(glob: Glob, pieces: Pieces): Truth {
  const below = glob.testPieces(pieces[0] === '.' ? [null] : [...pieces, '/', null]);
  return below === 'yes' ? below : and('maybe', or(below, glob.testPieces(pieces)));
}

/** Outside of the workspace. A wildcard at the start of a glob does not allow such a path. */
const leaves = ([first]: Pieces): boolean => first === null || first === '..' || /^(\.\.\/|\/|~)/.test(first ?? '');

const normal = new WeakMap<TouchedPath, Pieces>();

/** Made once per path: the conversion takes longer than most comparisons. */
function piecesOf(touched: TouchedPath): Pieces {
  const { path } = touched;
  if (typeof path !== 'string') return path;
  const pieces = normal.get(touched) ?? [normalPath(path)];
  normal.set(touched, pieces);
  return pieces;
}

/** The shortest spelling. A path out of the workspace begins with `..` or a slash. */
export function normalPath(path: string): string {
  const shortest = posix.normalize(path);
  return shortest.length > 1 && shortest.endsWith('/') ? shortest.slice(0, -1) : shortest;
}
