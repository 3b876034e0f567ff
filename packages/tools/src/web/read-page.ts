import type { TextWork } from '../text-work/text-work.ts';
import type { HtmlBody } from './html-to-markdown.ts';
import { writeHtml } from './write-html.ts';

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
export async function readPage(
  { text, signal }: { text: TextWork; signal: AbortSignal },
  page: HtmlBody,
  format: PageFormat,
): Promise<ReadPage> {
  const read = await text.run('page', { ...page, format });
  if (!('html' in read)) return read;
  const deps = { plain: (html: string) => text.run('plain', { html }) };
  const form = format === 'text' ? 'text' : 'markdown';
  const { markdown, links: _links, ...rest } = await writeHtml(deps, read.html, { format: form, signal });
  return { ok: true, ...rest, content: markdown };
}
