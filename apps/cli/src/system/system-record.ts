import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { directoryId } from '@holdpoint/process/directory';
import { z } from 'zod';
import { CliError } from '../shell/index.ts';
import { isAlive } from './processes.ts';

const processSchema = z.strictObject({ pid: z.int().positive(), began: z.string() });

const recordSchema = z.strictObject({
  format: z.literal(1),
  ...processSchema.shape,
  /** The data directory of this record: a copy of the directory has another id. Earlier versions wrote none. */
  directory: z.string().optional(),
  started_at: z.iso.datetime(),
  /** Null until the API listens. */
  address: z.url().nullable(),
  /** The socket of the embedded Redis; null before the server runs, or with another Redis. */
  redis_socket: z.string().nullable(),
  children: z.array(z.strictObject({ name: z.string(), ...processSchema.shape })),
});

/** The `up` process of a data directory and its children, in `<data>/up.json` while the process runs. */
export type SystemRecord = z.infer<typeof recordSchema>;

const fileOf = (dataDir: string): string => join(dataDir, 'up.json');

/**
 * Undefined without a record. A power failure can leave a blank record, counted as none, because no process survived.
 *
 * @throws CliError `not_ours`
 */
export function readSystemRecord(dataDir: string): SystemRecord | undefined {
  const file = fileOf(dataDir);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (isBlank(text)) return undefined;
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CliError('not_ours', `${file} is not a record of a running system.`, { cause });
  }
}

/** Whether a record was made for another directory and came here in a copy. */
const isOfAnother = ({ directory }: SystemRecord, dataDir: string): boolean =>
  directory !== undefined && directory !== directoryId(dataDir);

/**
 * Claims the existing data directory for this process, until its release or the end of this process.
 *
 * @returns the record of the living `up` with the claim; or `taken: true`, with the record of a dead `up`. A record from a copied directory is
 *   removed, and its processes are the original's
 */
export function claim(
  dataDir: string,
  record: SystemRecord,
): { taken: true; left?: SystemRecord } | { taken: false; by: SystemRecord } {
  let left: SystemRecord | undefined;
  for (;;) {
    if (linkNew(dataDir, record)) return left === undefined ? { taken: true } : { taken: true, left };
    const found = readSystemRecord(dataDir);
    if (found === undefined) {
      removeBlank(dataDir);
      continue;
    }
    const isForeign = isOfAnother(found, dataDir);
    if (!isForeign && isAlive(found)) return { taken: false, by: found };
    if (removeDead(dataDir, found) && !isForeign) left = found;
  }
}

/** Only the claiming process may call this function. */
export function updateSystemRecord(dataDir: string, record: SystemRecord): void {
  renameSync(writeAside(dataDir, record), fileOf(dataDir));
}

export function release(dataDir: string, pid: number): void {
  if (readSystemRecord(dataDir)?.pid === pid) rmSync(fileOf(dataDir), { force: true });
}

const isBlank = (text: string): boolean => text.replaceAll('\0', '').trim() === '';

/** Moved aside before the second read: another process may have written a good record. */
function removeBlank(dataDir: string): void {
  const aside = `${fileOf(dataDir)}.${process.pid}.blank`;
  try {
    if (!isBlank(readFileSync(fileOf(dataDir), 'utf8'))) return;
    renameSync(fileOf(dataDir), aside);
    if (!isBlank(readFileSync(aside, 'utf8'))) linkSync(aside, fileOf(dataDir));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Creates the record whole, and only when there is none. */
function linkNew(dataDir: string, record: SystemRecord): boolean {
  const aside = writeAside(dataDir, record);
  try {
    linkSync(aside, fileOf(dataDir));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Several processes may find the dead record. The first moves the record aside; a process with a new record moved by mistake puts the
 * record back.
 */
function removeDead(dataDir: string, dead: SystemRecord): boolean {
  const aside = `${fileOf(dataDir)}.${process.pid}.dead`;
  try {
    renameSync(fileOf(dataDir), aside);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
  try {
    const moved = recordSchema.parse(JSON.parse(readFileSync(aside, 'utf8')));
    if (moved.pid === dead.pid && moved.began === dead.began) return true;
    linkSync(aside, fileOf(dataDir));
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}

function writeAside(dataDir: string, record: SystemRecord): string {
  const aside = `${fileOf(dataDir)}.${process.pid}.new`;
  writeFileSync(aside, `${JSON.stringify(record, null, 1)}\n`, { mode: 0o600, flush: true });
  return aside;
}

const errnoOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** The record of `up` for a data directory, and whether its processes still run. */
export interface FoundSystem {
  record: SystemRecord;
  /** The `up` process runs. Its children may run without `up`, after a kill of `up`. */
  isUp: boolean;
  /** The address of the API, while the API runs and listens. */
  address: string | undefined;
}

/**
 * Finds the system of a data directory. Every command uses this function. The record in a copy of a data directory names the processes of the
 * original, so such a record counts as none.
 *
 * @throws CliError `not_ours`
 */
export function findSystem(dataDir: string): FoundSystem | undefined {
  const record = readSystemRecord(dataDir);
  if (record === undefined || isOfAnother(record, dataDir)) return undefined;
  const api = record.children.find(({ name }) => name === 'api');
  const address = api !== undefined && isAlive(api) ? (record.address ?? undefined) : undefined;
  return { record, isUp: isAlive(record), address };
}

/** After the workers' own limit: time to close connections and end sandboxes. */
export const drainMarginMs = 12_000;
