import { z } from 'zod';
import { errorLine } from './error-line.ts';
import { type PlainCall, type ResultText, renderValue } from './result-text.ts';
import { counted, fileText, oneLine } from './shown-text.ts';

const page = z.object({
  final_url: z.string(),
  status: z.int(),
  content_type: z.string(),
  title: z.string().optional(),
  content: z.string().default(''),
  total_chars: z.int().optional(),
  next_start: z.int().optional(),
  incomplete: z.boolean().optional(),
});
type Page = z.output<typeof page>;

/** A page below its address. The body of an error of the server often names the cause, so it is shown, too. */
export function renderPage({ status, value, error }: PlainCall): ResultText | undefined {
  const parsed = page.safeParse(value);
  if (!parsed.success) return status === 'succeeded' ? undefined : { head: errorLine(status, error), body: '' };
  const { title, content } = parsed.data;
  const head = status === 'succeeded' ? pageHead(parsed.data) : errorLine(status, error);
  return { head, body: fileText([title, content].filter(Boolean).join('\n\n')) };
}

function pageHead({ final_url, status, content_type, total_chars, next_start, incomplete }: Page): string {
  return [
    `${status} ${content_type} ${final_url}`,
    ...(next_start === undefined ? [] : [`continue with start_char ${next_start} of ${total_chars ?? 'more'}`]),
    ...(incomplete ? ['the page was too large, and its end is missing'] : []),
  ].join('; ');
}

const result = z.object({ title: z.string(), url: z.string(), snippet: z.string() });

export const renderSearch = renderValue(z.object({ results: z.array(result) }), ({ results }) => ({
  head: results.length === 0 ? 'nothing was found' : counted(results.length, 'result'),
  body: results.map((one) => [one.title, one.url, one.snippet].map(oneLine).filter(Boolean).join('\n')).join('\n\n'),
}));
