import { posix } from 'node:path';
import { compileGlob, type Glob, type Pieces } from './glob.ts';
import { and, or, type Truth } from './truth.ts';

/** A path of a call. */
export interface TouchedPath {
  /** Relative to the workspace. A `null` piece is unknown: alone, any path; behind a text, such as the empty one, names within the folders before it. */
  path: string | Pieces;
  access: 'read' | 'write' | 'delete';
  /** The call also reaches what lies below the path. */
  recursive?: boolean | undefined;
}

export interface PathGlob {
  source: string;
  test(touched: TouchedPath): Truth;
}

/** `./src` and `src/` mean `src`. @throws GlobError */
export function compilePathGlob(source: string): PathGlob {
  const glob = compileGlob(source.replace(/^(\.\/)+/, '').replace(/(.)\/+$/, '$1'));
  const namesOutside = /^(\.\.|\/|~)/.test(source);
  return {
    source,
    test({ path, recursive }) {
      const pieces = typeof path === 'string' ? [normalPath(path)] : path;
      const found: Truth = recursive ? testTree(glob, pieces) : glob.testPieces(pieces);
      return namesOutside || !leaves(pieces) ? found : and('maybe', found);
    },
  };
}

/** A glob that covers all below a folder covers the folder. */
function testTree(glob: Glob, pieces: Pieces): Truth {
  const below = glob.testPieces(pieces[0] === '.' ? [null] : [...pieces, '/', null]);
  return below === 'yes' ? below : and('maybe', or(below, glob.testPieces(pieces)));
}

/** Outside of the workspace. A wildcard at the start of a glob does not allow that. */
const leaves = ([first]: Pieces): boolean => first === null || first === '..' || /^(\.\.\/|\/|~)/.test(first ?? '');

/** The shortest spelling. A path that leaves the workspace begins with `..` or a slash. */
export function normalPath(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}
