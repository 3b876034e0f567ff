import { posix } from 'node:path';
import { compileGlob, type Glob, type Pieces } from './glob.ts';
import { and, or, type Truth } from './truth.ts';

/** A path of a call. */
export interface TouchedPath {
  /** Relative to the workspace. `null` pieces are unknown before the command runs. */
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
      const pieces = typeof path === 'string' ? [normalPath(path)] : unknownFolders(path);
      const found = recursive ? testTree(glob, pieces) : glob.testPieces(pieces);
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

/** An unknown piece may contain `..`, so nothing before it is certain. */
const unknownFolders = (pieces: Pieces): Pieces => {
  if (!pieces.includes(null)) return [normalPath(pieces.join(''))];
  return [null];
};
