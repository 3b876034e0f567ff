import type { CodeGraphError } from '../errors.ts';
import type { Answer, QuestionText } from '../query/answer-question.ts';
import type { Found } from '../store/graph-store.ts';
import type { CachePlace } from '../store/open-store.ts';
import type { Unread } from '../view/view.ts';

/** What a program answered about a blob, unchecked, or what is known without one. */
export type Read = Pick<Found, 'oid' | 'hint' | 'bytes' | 'reason' | 'text'> & { line?: Uint8Array };

/** A snapshot's files, or what differs from `since`. */
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
      listing: GivenListing /** Entries, with those of the parts before. */;
      total: number;
    }
  /** A part of the listing that follows. */
  | { operation: 'part'; isFirst: boolean; entries: GivenListing['entries'] }
  | { operation: 'keep'; read: Read[] };

export type Outcome =
  | ({ kind: 'answer' } & Answer)
  /** The files of the snapshot are not known; the graph has those of `known`. */
  | { kind: 'unlisted'; known: string[] }
  /** `total`: all blobs that are read for the snapshot. */
  | { kind: 'unread'; blobs: Unread[]; total: number }
  | { kind: 'done' }
  /** Positions in `read` of lines that no parser of Holdpoint writes. Nothing of them was kept. */
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
