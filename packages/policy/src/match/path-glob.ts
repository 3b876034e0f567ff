import { posix } from 'node:path';
import { compileGlob, type Pieces } from './glob.ts';
import type { Truth } from './truth.ts';

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
  return {
    source,
    test({ path, recursive }) {
      const pieces = typeof path === 'string' ? [normalPath(path)] : unknownFolders(path);
      const itself = glob.testPieces(pieces);
      if (itself === 'yes' && !recursive) return 'yes';
      if (!recursive) return itself;
      const isRoot = pieces.length === 1 && pieces[0] === '.';
      const below = glob.testPieces(isRoot ? [null] : [...pieces, '/', null]);
      if (below === 'no') return itself === 'no' ? 'no' : 'maybe';
      return below === 'yes' ? 'yes' : 'maybe';
    },
  };
}

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
