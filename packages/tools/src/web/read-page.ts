import { decodeBody } from './charset.ts';
import { type HtmlBody, htmlToMarkdown } from './html-to-markdown.ts';
import { parseMediaType } from './media-type.ts';

/** `raw`: the source as it was sent, decoded. */
export type PageFormat = 'markdown' | 'text' | 'raw';

export type ReadPage =
  | { ok: true; title?: string; content: string; complete: boolean; plainBecause?: string }
  /** What the body holds is no text. */
  | { ok: false; reason: string };

/**
 * The text of a response: HTML is written as the format says, all other text passed through as it is.
 *
 * @throws the reason of `signal` when it is aborted; nothing else
 */
export async function readPage(page: HtmlBody, format: PageFormat, signal?: AbortSignal): Promise<ReadPage> {
  const { kind, essence, charset } = parseMediaType(page.contentType);
  const named = charset ? { charset } : {};
  if (page.body.length === 0) return { ok: true, content: '', complete: true };
  if (kind === 'binary') return { ok: false, reason: `it is ${essence}` };
  if (kind === 'html') return html(page, named, { format, signal });
  if (kind === 'unknown' && !isUtf8(page.body))
    return { ok: false, reason: 'its type is not given and its bytes are no text' };
  const content = decodeBody(page.body, { ...named, html: false });
  if (content.includes('\0')) return { ok: false, reason: `it calls itself ${essence || 'nothing'} and holds NUL` };
  if (kind === 'unknown' && LOOKS_LIKE_HTML.test(content.slice(0, SNIFFED)))
    return html(page, named, { format, signal });
  return { ok: true, content, complete: true };
}

async function html(
  page: HtmlBody,
  named: { charset?: string },
  { format, signal }: { format: PageFormat; signal: AbortSignal | undefined },
): Promise<ReadPage> {
  if (format === 'raw') return { ok: true, content: decodeBody(page.body, { ...named, html: true }), complete: true };
  const { markdown, links: _links, ...rest } = await htmlToMarkdown(page, { format, ...(signal && { signal }) });
  return { ok: true, ...rest, content: markdown };
}

const SNIFFED = 512;
const LOOKS_LIKE_HTML = /^\s*(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>])/i;

/** A body that was cut within a character still is. */
function isUtf8(body: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
    return true;
  } catch {
    return false;
  }
}
