import { z } from 'zod';

/** The sandbox refuses an empty path and one with a NUL byte: they are an `INVALID_PATH`, as any other path that names no file. */
export const workspacePath = z.string().max(4096);

export const contentEncoding = z.enum(['utf-8', 'base64']).default('utf-8');

/** Padded base64 without white space, as RFC 4648 writes it. Node skips what is not base64, and would write other bytes than were meant. */
export function decodeBase64(text: string): Buffer | undefined {
  const data = Buffer.from(text, 'base64');
  return data.toString('base64') === text ? data : undefined;
}
