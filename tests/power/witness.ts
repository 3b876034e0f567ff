import { createHash } from 'node:crypto';
import type { RunEvent } from '@holdpoint/contract/wire';

/** Content by path. */
export type Files = ReadonlyMap<string, string>;

/** What was known of one run before the power was cut, and what must become of it. */
export interface Witness {
  /** What the run was doing at the cut. */
  stage: string;
  runId: string;
  /** The events that the API sent before the cut. */
  events: RunEvent[];
  /** Of a parked run: the files of the snapshot that it is recorded to be at. Its next step must see the same. */
  recorded?: Files;
  /** The files of the final snapshot. */
  result: Files;
  /** Paths that may be missing: a background command that is lost leaves what a step's snapshot took in, or nothing. */
  optional?: readonly string[];
  /** The published files were acknowledged before the cut. */
  published?: { type: 'git' | 'directory'; path: string };
}

/** What is found of the run after the cut. A text says why something could not be read. */
export interface Aftermath {
  /** From the API, before anything was decided. */
  events: RunEvent[] | string;
  /** The files of the snapshot that the run was at, read before anything was decided. */
  recorded?: Files | string;
  /** What the step that lists the tree saw: SHA-256 by path. */
  seen: ReadonlyMap<string, string> | undefined;
  status: string;
  reason: string | undefined;
  result: Files | string;
  published?: Files | string;
}

export interface Cut {
  witnesses: readonly Witness[];
  /** By run. */
  after: ReadonlyMap<string, Aftermath>;
}

export const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');

/** Lists every file that a step sees, with its SHA-256. */
export const lookAround = 'find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum';

/** @param text what `lookAround` printed */
export function parseLook(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.slice(66).replace(/^\.\//, ''), line.slice(0, 64)]));
}
