import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { fileText, withoutEnd } from './shown-text.ts';

const schema = z.object({
  content: z.string(),
  start_line: z.int(),
  line_count: z.int(),
  total_lines: z.int(),
  line_endings: z.enum(['none', 'lf', 'crlf', 'mixed']),
  final_newline: z.boolean(),
  next_offset: z.int().optional(),
  cut_line: z.int().optional(),
  bom: z.boolean().optional(),
  lossy: z.boolean().optional(),
});
type Excerpt = z.output<typeof schema>;

/** Lines of a file, each with its number and a tab. */
export const renderLines = renderValue(schema, (excerpt) => {
  const { content, start_line, line_count, total_lines, line_endings } = excerpt;
  if (line_count === 0) return { head: 'empty file', body: '' };
  const text = line_endings === 'crlf' ? content.replaceAll('\r\n', '\n') : content;
  const lines = fileText(withoutEnd(text)).split('\n');
  return {
    head: [`lines ${start_line}-${start_line + line_count - 1} of ${total_lines}`, ...remarks(excerpt)].join('; '),
    body: lines.map((line, at) => `${start_line + at}\t${line}`).join('\n'),
  };
});

function remarks({ next_offset, cut_line, line_endings, final_newline, ...excerpt }: Excerpt): string[] {
  const isWhole = next_offset === undefined;
  return [
    ...(isWhole ? [] : [`continue with offset ${next_offset}`]),
    ...(cut_line === undefined ? [] : [`line ${cut_line} is too long and is cut`]),
    ...(line_endings === 'crlf' ? ['every line ends with CRLF'] : []),
    ...(line_endings === 'mixed' ? ['some lines end with CRLF, shown as <U+000D>'] : []),
    ...(isWhole && !final_newline ? ['no line break at the end'] : []),
    ...(excerpt.bom ? ['begins with a byte order mark, which is not shown'] : []),
    ...(excerpt.lossy ? ['bytes that are not UTF-8 are shown as U+FFFD'] : []),
  ];
}
