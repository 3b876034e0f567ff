import { z } from 'zod';

/** The sandbox refuses an empty path and a path with a NUL byte: both are an `INVALID_PATH`, as any other path without a file. */
export const workspacePath = z.string().max(4096);

export const contentEncoding = z.enum(['utf-8', 'base64']).default('utf-8');

/** Padded base64 without white space, by RFC 4648. Node skips other characters, and would write unintended bytes. */
export function decodeBase64(text: string): Buffer | undefined {
  const data = Buffer.from(text, 'base64');
  return data.toString('base64') === text ? data : undefined;
}
