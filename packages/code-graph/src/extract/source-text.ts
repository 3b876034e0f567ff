import type { Unparsed } from './extractor.ts';

/** A file of 2 MiB takes about 1 s and 200 MB; hand-written ones are smaller. */
const maxBytes = 2 * 1024 * 1024;
const smallestMinified = 10_000;
const minifiedLineLength = 500;

/** The text of a file for the parser, or the reason of a refusal. U+FFFD stands for bytes outside of UTF-8: names are mostly ASCII. */
export function sourceText({ path, bytes }: { path: string; bytes: Uint8Array }): { text: string } | Unparsed {
  if (bytes.length > maxBytes) return { unparsed: 'too_large' };
  const encoding = utf16(bytes);
  if (encoding === undefined && bytes.subarray(0, 8192).includes(0)) return { unparsed: 'binary' };
  const text = new TextDecoder(encoding ?? 'utf-8').decode(bytes);
  return isMinified(path, text) ? { unparsed: 'minified' } : { text };
}

function utf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

function isMinified(path: string, text: string): boolean {
  if (text.length < smallestMinified) return false;
  if (/\.min\.[cm]?js$/.test(path)) return true;
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return text.length / lines > minifiedLineLength;
}
