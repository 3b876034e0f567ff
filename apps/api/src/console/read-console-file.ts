import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

export interface ConsoleFile {
  bytes: Buffer;
  type: string;
  /** Undefined: as it is. */
  encoding: 'br' | 'gzip' | undefined;
  etag: string;
}

const compressed = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * Read at each request: the set-up may replace the folder while the API runs. Its build before lies in `.previous`: for the moment between
 * the two moves, and for open pages that load a part of it. @param name from `consoleFile`
 */
export async function readConsoleFile(
  directory: string,
  name: string,
  acceptEncoding: string,
): Promise<ConsoleFile | undefined> {
  // Again the folder at last: a slow reader may look at `.previous` while the next build removes it.
  for (const place of [directory, `${directory}.previous`, directory]) {
    const found = await readFrom(place, name, acceptEncoding);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readFrom(directory: string, name: string, acceptEncoding: string): Promise<ConsoleFile | undefined> {
  const type = types[extname(name)] ?? 'application/octet-stream';
  for (const [encoding, suffix] of compressed) {
    const bytes = accepts(acceptEncoding, encoding) ? await read(join(directory, `${name}${suffix}`)) : undefined;
    if (bytes !== undefined) return { bytes, type, encoding, etag: etagOf(bytes) };
  }
  const bytes = await read(join(directory, name));
  return bytes && { bytes, type, encoding: undefined, etag: etagOf(bytes) };
}

/** Each form of a file has a tag of its own. */
const etagOf = (bytes: Buffer): string => `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`;

/** RFC 9110: `q=0` excludes a coding. */
function accepts(header: string, coding: string): boolean {
  const [, weight] = new RegExp(`(?:^|,)\\s*${coding}\\s*(?:;\\s*q=([0-9.]+)\\s*)?(?:,|$)`, 'i').exec(header) ?? [
    '',
    '0',
  ];
  return weight === undefined || Number(weight) > 0;
}

async function read(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
};
