import { z } from 'zod';

/** Bytes of the largest file to read or create whole. */
export const maxTextFile = 10 * 1024 * 1024;

/** Text as an argument. A lone surrogate has no UTF-8 form and would become another character in the file. */
export const textArgument = z
  .string()
  .refine((text) => text.isWellFormed(), 'the text has a lone surrogate, which UTF-8 cannot carry');

export interface DecodedText {
  /** Without the byte order mark. */
  text: string;
  bom: boolean;
  /** Whether some bytes are not UTF-8. They become U+FFFD. */
  lossy: boolean;
}

export function decodeText(data: Buffer): DecodedText {
  const bom = data.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  const body = bom ? data.subarray(byteOrderMark.length) : data;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body), bom, lossy: false };
  } catch {
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(body), bom, lossy: true };
  }
}

/** Text has no NUL. UTF-16 has many and counts as binary. */
export function isBinary(data: Buffer): boolean {
  return data.includes(0);
}

/** Lines with their endings. A final newline starts no further line, and the empty text has no lines. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export type LineEndings = 'lf' | 'crlf' | 'mixed' | 'none';

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
