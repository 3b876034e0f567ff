import { createHash } from 'node:crypto';
import type { RunEvent } from '@holdpoint/contract/wire';

/** Content by path. */
export type Files = ReadonlyMap<string, string>;

/** The knowledge about a run before the power cut, and its expected result. */
export interface ExpectedRun {
  /** The activity of the run at the cut. */
  stage: string;
  runId: string;
  /** The events sent by the API before the cut. */
  events: RunEvent[];
  /** For a parked run, the files of its recorded snapshot. The next step must see the same files. */
  recorded?: Files;
  /** The files of the final snapshot. */
  result: Files;
  /** Possibly missing paths: of a lost background command only files in a step's snapshot remain. */
  optional?: readonly string[];
  /** The published files were acknowledged before the cut. */
  published?: { type: 'git' | 'directory'; path: string };
}

/** The state of a run after the cut. A string says why a part is unreadable. */
export interface RecoveredRun {
  /** From the API, before any decision. */
  events: RunEvent[] | string;
  /** The files of the run's snapshot, read before any decision. */
  recorded?: Files | string;
  /** The files listed by a step after the cut: SHA-256 by path. */
  seen: ReadonlyMap<string, string> | undefined;
  status: string;
  reason: string | undefined;
  result: Files | string;
  published?: Files | string;
}

export interface Cut {
  expectedRuns: readonly ExpectedRun[];
  /** By run id. */
  after: ReadonlyMap<string, RecoveredRun>;
}

export const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');

/** Lists every file visible to a step, with its SHA-256. */
export const listFiles = 'find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum';

/** @param text the output of `listFiles` */
export function parseFileList(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.slice(66).replace(/^\.\//, ''), line.slice(0, 64)]));
}
