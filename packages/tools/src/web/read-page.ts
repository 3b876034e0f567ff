import { decodeBody } from './charset.ts';
import { parseMediaType } from './media-type.ts';
import { type RenderedPage, renderPage } from './render-page.ts';

export interface PageBody {
  body: Buffer;
  /** The `Content-Type` header. */
  contentType?: string;
  /** Where the body came from after all redirects. */
  url: string;
  /** `raw`: the source, decoded. */
  format: 'markdown' | 'text' | 'raw';
}

/** `reason`: why the body is no text; the reason completes the sentence "it …". */
export type ReadPage = ({ ok: true } & RenderedPage) | { ok: false; reason: string };

/** The text of a response. HTML is rendered in the given format; any other text is unchanged. Takes up to a second for a large page. */
export function readPage(page: PageBody): ReadPage {
  const { body } = page;
  const { kind, essence, charset } = parseMediaType(page.contentType);
  if (body.length === 0) return { ok: true, content: '', complete: true };
  if (kind === 'binary') return { ok: false, reason: `it is ${essence}` };
  if (kind === 'html') return readHtml(page, charset);
  if (kind === 'unknown' && !isUtf8(body)) return { ok: false, reason: 'it has no type and its bytes are not text' };
  const content = decodeBody(body, { charset, html: false });
  if (content.includes('\0')) return { ok: false, reason: `its type is ${essence || 'not given'} and it contains NUL` };
  if (kind === 'unknown' && startOfHtml.test(content.slice(0, sniffedChars))) return readHtml(page, charset);
  return { ok: true, content, complete: true };
}

function readHtml({ body, url, format }: PageBody, charset: string | undefined): ReadPage {
  const html = decodeBody(body, { charset, html: true });
  return { ok: true, ...(format === 'raw' ? { content: html, complete: true } : renderPage({ html, url }, format)) };
}

const sniffedChars = 512;
const startOfHtml = /^\s*(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>])/i;

/** Also true of a body cut within a character. */
function isUtf8(body: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
    return true;
  } catch {
    return false;
  }
}
