import { readFileSync, statSync } from 'node:fs';
import type { z } from 'zod';
import { errnoOf, WorkspaceError } from '../errors.ts';

/** Reads a JSON file of the data directory; undefined for a missing file. @throws WorkspaceError EWORKSPACECORRUPT */
export function readJson<T>(path: string, schema: z.ZodType<T>): T | undefined {
  let text: string;
  // A tree without an overlay is asked for its record several times per step, and an error takes five times as long as this look.
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new WorkspaceError('EWORKSPACECORRUPT', `${path} cannot be read.`, { cause });
  }
}
