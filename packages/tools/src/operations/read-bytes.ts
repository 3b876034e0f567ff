import type { FileStat } from '@holdpoint/contract';
import { isBinary } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';

export interface FileBytes {
  /** From `offset`, at most `max_bytes`. */
  data: Buffer;
  /** Size of the whole file. */
  bytes: number;
  mtime_ms: number;
  mode: number;
  /** Digest of the whole file; null when the file is larger than `max_bytes`. */
  sha256: string | null;
  /** Whether `data` is no UTF-8 text. */
  binary: boolean;
}

/** Bytes of a file with its facts. Throws `FileError`. @param range.max_bytes up to 32 MiB. @default 10 MiB */
export async function readBytes(
  { files, signal }: ToolContext,
  { path, ...range }: { path: string; offset?: number; max_bytes?: number },
): Promise<FileBytes> {
  const facts: FileStat = await files.stat(path, {}, signal);
  const { data, bytes, sha256, mode } = await files.read(path, range, signal);
  return { data, bytes, mtime_ms: facts.mtime_ms, mode, sha256, binary: isBinary(data) };
}
