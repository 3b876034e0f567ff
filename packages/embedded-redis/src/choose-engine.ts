import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { writeDurably } from '@holdpoint/process/durable-files';
import { z } from 'zod';
import { EmbeddedRedisError } from './error.ts';

/** The last server to write the data. The file lies next to the data. */
const engineSchema = z.strictObject({
  engine: z.enum(['redis', 'valkey']),
  version: z.string().regex(/^\d+(\.\d+)+$/),
});
export type Engine = z.infer<typeof engineSchema>;

/**
 * Finds the first binary able to run and to read the data. A newer server reads the files of an older server, but not the reverse. Redis
 * and Valkey do not read each other's files since 7.2.
 */
export async function chooseEngine(
  binaries: readonly string[],
  engineFile: string,
): Promise<Engine & { binary: string }> {
  const written = await readEngine(engineFile);
  const seen: string[] = [];
  for (const binary of binaries) {
    const engine = await engineOf(binary);
    if (engine === undefined) continue;
    if (written === undefined || canRead(engine, written)) return { ...engine, binary };
    seen.push(`${engine.engine} ${engine.version} (${binary})`);
  }
  if (written === undefined || seen.length === 0) {
    throw new EmbeddedRedisError(
      'redis_not_found',
      `No Redis to start: ${binaries.length === 0 ? 'none is installed' : `none of ${binaries.join(', ')} runs`}.`,
      'Run `npm run setup`, or set REDIS_URL to a Redis of your own.',
    );
  }
  throw new EmbeddedRedisError(
    'redis_engine_changed',
    `${written.engine} ${written.version} wrote the data, and only ${seen.join(', ')} is installed.`,
    `Put ${written.engine} ${written.version} or newer on PATH, or choose an empty data directory.`,
  );
}

export function canRead(engine: Engine, written: Engine): boolean {
  if (engine.engine !== written.engine) return false;
  const [major = 0, minor = 0] = engine.version.split('.').map(Number);
  const [writtenMajor = 0, writtenMinor = 0] = written.version.split('.').map(Number);
  return major > writtenMajor || (major === writtenMajor && minor >= writtenMinor);
}

/** `Redis server v=7.0.15 sha=…`, `Valkey server v=8.1.1 sha=…`, and in Valkey 7.2 only `Server v=7.2.5 sha=…` */
export function parseVersionLine(line: string): Engine | undefined {
  const match = /^(.*?)server v=(\d+(?:\.\d+)+)/i.exec(line.trim());
  if (match === null) return undefined;
  return { engine: /^redis/i.test(match[1] ?? '') ? 'redis' : 'valkey', version: match[2] ?? '' };
}

export async function recordEngine(engineFile: string, { engine, version }: Engine): Promise<void> {
  await writeDurably(engineFile, `${JSON.stringify({ engine, version })}\n`);
}

async function engineOf(binary: string): Promise<Engine | undefined> {
  try {
    const { stdout } = await promisify(execFile)(binary, ['--version'], { env: {}, timeout: 10_000 });
    return parseVersionLine(stdout);
  } catch {
    return undefined;
  }
}

async function readEngine(engineFile: string): Promise<Engine | undefined> {
  let text: string;
  try {
    text = await readFile(engineFile, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  // After a power failure a file not yet on disk is empty or full of zero bytes. Then the engine is unknown.
  if (text.replaceAll('\0', '').trim() === '') return undefined;
  try {
    return engineSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new EmbeddedRedisError(
      'redis_engine_unknown',
      `${engineFile} does not say which server wrote the data.`,
      'Restore the file from a backup, or remove the file when the installed server wrote the data.',
      { cause },
    );
  }
}
