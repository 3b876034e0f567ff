import type { CodeGraphError } from '../errors.ts';
import type { Answer, QuestionText } from '../query/answer-question.ts';
import type { Found } from '../store/graph-store.ts';
import type { CachePlace } from '../store/open-store.ts';
import type { Unread } from '../view/view.ts';

/** A program's unchecked answer about a blob, or the facts known without an answer. */
export type Read = Pick<Found, 'oid' | 'hint' | 'bytes' | 'reason' | 'text'> & { line?: Uint8Array };

/** A snapshot's files, or the differences from `since`. */
export interface GivenListing {
  since: string | null;
  entries: { path: string; oid: string | null; isLink: boolean }[];
}

export type Request =
  | {
      operation: 'ask';
      question: Omit<QuestionText, 'deadline'>;
      /** Milliseconds for the answer. */
      timeout_ms: number;
      permissions: readonly string[] | undefined;
    }
  | {
      operation: 'list';
      snapshot: string;
      listing: GivenListing /** Entries, with the entries of the parts before. */;
      total: number;
    }
  /** A part of the listing behind. */
  | { operation: 'part'; isFirst: boolean; entries: GivenListing['entries'] }
  | { operation: 'keep'; read: Read[] };

export type Outcome =
  | ({ kind: 'answer' } & Answer)
  /** The files of the snapshot are not known; the graph has the files of `known`. */
  | { kind: 'unlisted'; known: string[] }
  /** `total`: all blobs of the snapshot to read. */
  | { kind: 'unread'; blobs: Unread[]; total: number }
  | { kind: 'done' }
  /** Positions in `read` of lines impossible for a parser of Holdpoint. Nothing of them was kept. */
  | { kind: 'kept'; refused: number[] };

export interface Posted {
  id: number;
  place: CachePlace;
  request: Request;
}

export type Reply = { id: number } & (
  | { outcome: Outcome }
  | { refused: Pick<CodeGraphError, 'code' | 'message' | 'next'> }
  | { error: unknown }
);
