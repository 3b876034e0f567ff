import { decodeBody } from './charset.ts';
import { type HtmlBody, prepareHtml } from './html-to-markdown.ts';
import { parseMediaType } from './media-type.ts';
import type { PageFormat, ReadPage } from './read-page.ts';
import type { PreparedHtml } from './write-html.ts';

export interface PageBody extends HtmlBody {
  format: PageFormat;
}

/** All but the writing of Markdown. Decodes, and parses HTML: up to a second for a large page. */
export function preparePage({ format, ...page }: PageBody): ReadPage | { html: PreparedHtml } {
  const { kind, essence, charset } = parseMediaType(page.contentType);
  const named = charset ? { charset } : {};
  if (page.body.length === 0) return { ok: true, content: '', complete: true };
  if (kind === 'binary') return { ok: false, reason: `it is ${essence}` };
  if (kind === 'html') return html(page, named, format);
  if (kind === 'unknown' && !isUtf8(page.body))
    return { ok: false, reason: 'its type is not given and its bytes are no text' };
  const content = decodeBody(page.body, { ...named, html: false });
  if (content.includes('\0')) return { ok: false, reason: `it calls itself ${essence || 'nothing'} and holds NUL` };
  if (kind === 'unknown' && LOOKS_LIKE_HTML.test(content.slice(0, SNIFFED))) return html(page, named, format);
  return { ok: true, content, complete: true };
}

function html(page: HtmlBody, named: { charset?: string }, format: PageFormat): ReadPage | { html: PreparedHtml } {
  if (format !== 'raw') return { html: prepareHtml(page) };
  return { ok: true, content: decodeBody(page.body, { ...named, html: true }), complete: true };
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
