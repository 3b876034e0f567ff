import type { FileFacts } from '../facts.ts';

/** A line of JSON, followed by the bytes of the file. */
export interface ParseRequest {
  /** A name with the extension of the file, or the whole name of a file without an extension. */
  name: string;
  bytes: number;
}

export type ParseReply = { language: string; facts: FileFacts } | { language?: string; unparsed: string };
