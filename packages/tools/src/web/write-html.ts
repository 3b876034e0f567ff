import type { PageLink } from './clean-html.ts';
import { runTurndown, type TurndownLimits } from './run-turndown.ts';

export interface HtmlPage {
  title?: string;
  markdown: string;
  /** Where the text leads, each address once, in the order of the page; at most 1000. */
  links: PageLink[];
  /** False when something is missing: the end of a page that was too large, or the marks. */
  complete: boolean;
  /** Why `markdown` is the plain text of the page, where Markdown was asked for. */
  plainBecause?: string;
}

/** A page that has been read: what is left to do is to write it as Markdown. */
export interface PreparedHtml {
  title?: string;
  links: PageLink[];
  /** Cleaned, and of a bounded size. */
  html: string;
  /** False when something of the page is missing in it. */
  complete: boolean;
}

export interface Conversion {
  /**
   * `text`: without any marks.
   *
   * @default 'markdown'
   */
  format?: 'markdown' | 'text';
  signal?: AbortSignal;
  /** @default 5 s, 256 MB */
  limits?: Pick<TurndownLimits, 'deadline_ms' | 'heap_mb'>;
}

/**
 * Writes a page that was read. Loads no parser, and does nothing long in this thread.
 *
 * @param deps.plain the text of cleaned HTML without marks
 */
export async function writeHtml(
  deps: { plain(html: string): Promise<string> },
  { html, complete: whole, ...about }: PreparedHtml,
  { format = 'markdown', signal, limits = LIMITS }: Conversion,
): Promise<HtmlPage> {
  const turned = format === 'text' ? undefined : await runTurndown(html, { ...limits, max_chars: MAX_CHARS }, signal);
  if (turned?.ok) return { ...about, markdown: turned.markdown.toWellFormed(), complete: whole && turned.complete };
  const text = await deps.plain(html);
  const markdown = text.slice(0, MAX_CHARS).toWellFormed();
  if (turned) return { ...about, markdown, complete: false, plainBecause: turned.reason };
  return { ...about, markdown, complete: whole && text.length <= MAX_CHARS };
}

/** Pages of 100 KB take a quarter of a second, most of it the start of the process. */
const LIMITS = { deadline_ms: 5000, heap_mb: 256 };
/** Some 20 times what a model reads at once. */
const MAX_CHARS = 2_000_000;
