import { type FileContent, outputsFolder } from '@holdpoint/contract';
import { isBinary, maxTextFile } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { type Failure, failure } from './cut-short.ts';

export interface TextFile {
  data: Buffer;
  sha256: string;
}

/** Reads a whole text file, or reports why the file cannot be read as text. Throws the errors of `files.read`. */
export async function readTextFile(
  context: ToolContext,
  path: string,
): Promise<{ ok: true; file: TextFile } | { ok: false; failure: Failure }> {
  return asText(path, await context.files.read(path, { max_bytes: maxTextFile }, context.signal));
}

/** The content of a file as text. @param read with up to `maxTextFile` bytes of the file */
export function asText(
  path: string,
  { data, bytes, sha256 }: FileContent,
): { ok: true; file: TextFile } | { ok: false; failure: Failure } {
  if (sha256 === null) return { ok: false, failure: tooLarge(path, bytes) };
  if (isDamagedOutput(path, sha256)) return { ok: false, failure: damaged(path) };
  if (isBinary(data)) return { ok: false, failure: binary(path, bytes, sha256) };
  return { ok: true, file: { data, sha256 } };
}

/** The name of a long result's file ends with the digest of its content. */
const isDamagedOutput = (path: string, sha256: string): boolean =>
  path.startsWith(`${outputsFolder}/`) && !path.endsWith(`-${sha256.slice(0, 12)}.txt`);

function damaged(path: string): Failure {
  return failure(
    'EDAMAGED',
    `${path} is not the text that was written there: it was changed on the disk.`,
    'Make the call again whose result it was.',
  );
}

function tooLarge(path: string, bytes: number): Failure {
  return failure(
    'EFILETOOLARGE',
    `${path} has ${bytes} bytes; files of more than ${maxTextFile} bytes are not read whole.`,
    "Search it with grep, or cut out a part with bash, e.g. sed -n '1,200p'.",
    { bytes },
  );
}

function binary(path: string, bytes: number, sha256: string): Failure {
  return failure(
    'EBINARY',
    `${path} is a binary file of ${bytes} bytes, not UTF-8 text.`,
    'Look into it with bash, e.g. file, xxd or strings; UTF-16 text can be converted with iconv.',
    { bytes, sha256 },
  );
}

/** The text of a whole file, byte order mark included; undefined for a binary file: a NUL in its first 8 KiB, or bytes outside of UTF-8. */
export function wholeText(data: Buffer): string | undefined {
  if (data.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return undefined;
  }
}
