import { readSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { WorkspaceError } from '../errors.ts';
import { createYielder, toText } from '../files/index.ts';
import type { ContentCheck } from '../port/workspaces.ts';
import { hashOnly, type Scan } from '../tree/index.ts';

const chunkBytes = 256 * 1024;
/** Largest inflated size of a checked loose git object. */
const mostInflated = 64 * 1024 * 1024;
/** Most paths named in the error. */
const mostNamed = 20;

export interface CheckedContent {
  content: Scan['content'];
  /** @throws WorkspaceError `ESECRETWRITTEN` naming the paths */
  assertClean(paths: Iterable<string>): void;
}

/** Content with a finding of the check is hashed and not stored. */
export function checkedContent(content: Scan['content'], check: ContentCheck): CheckedContent {
  const refused = new Map<string, readonly string[]>();
  /** Notes the findings. @returns whether there was anything */
  const note = (path: string, found: readonly string[]): boolean => {
    if (found.length > 0) refused.set(path, found);
    return found.length > 0;
  };
  const isFound = (path: string, ...parts: readonly Uint8Array[]): boolean => {
    const search = check.search();
    for (const part of parts) search.read(part);
    return note(path, search.found());
  };
  const isPathFound = (path: string) => isFound(path, Buffer.from(path, 'latin1'));
  return {
    content: {
      ...content,
      blob(bytes, path = '') {
        const inflated = inflatedObject(bytes, path);
        const isRefused = isPathFound(path) || isFound(path, bytes) || (inflated && isFound(path, inflated));
        return (isRefused ? hashOnly : content).blob(bytes);
      },
      async largeBlob(fd, size, path = '') {
        const search = check.search();
        const maybeYield = createYielder();
        const chunk = Buffer.allocUnsafe(chunkBytes);
        for (let at = 0; at < size; ) {
          const read = readSync(fd, chunk, 0, chunkBytes, at);
          if (read === 0) break;
          search.read(chunk.subarray(0, read));
          at += read;
          await maybeYield();
        }
        const isRefused = note(path, search.found()) || isPathFound(path);
        return (isRefused ? hashOnly : content).largeBlob(fd, size);
      },
    },
    assertClean(paths) {
      for (const path of paths) isPathFound(path);
      if (refused.size === 0) return;
      throw new WorkspaceError('ESECRETWRITTEN', describe(check, refused));
    },
  };
}

/** The path of a file may contain the secret. */
function describe(check: ContentCheck, refused: ReadonlyMap<string, readonly string[]>): string {
  const paths = [...refused.keys()].slice(0, mostNamed).map((path) => check.text(toText(path)));
  const names = [...new Set([...refused.values()].flat())].join(', ');
  const more = refused.size > mostNamed ? ` and ${refused.size - mostNamed} more` : '';
  return `${paths.join(', ')}${more} would hold the value of a secret (${names}).`;
}

/** git stores files compressed. */
function inflatedObject(bytes: Uint8Array, path: string): Buffer | undefined {
  if (bytes[0] !== 0x78 || !/(^|\/)objects\/[0-9a-f]{2}\//.test(path)) return undefined;
  try {
    return inflateSync(bytes, { maxOutputLength: mostInflated });
  } catch {
    return undefined;
  }
}
