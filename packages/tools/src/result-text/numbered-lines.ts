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

/** Bytes of the lines in one text: a model reads on where it needs more, and most files fit. */
const mostBytes = 16 * 1024;

/** Lines of a file, each with its number and a tab. At least one line is shown, so each call gets further. */
export const renderLines = renderValue(schema, (excerpt) => {
  const { content, start_line, line_count, total_lines, line_endings } = excerpt;
  if (line_count === 0) return { head: 'empty file', body: '' };
  const text = line_endings === 'crlf' ? content.replaceAll('\r\n', '\n') : content;
  const lines = fileText(withoutEnd(text)).split('\n');
  const shown = fitting(lines.map((line, at) => `${start_line + at}\t${line}`));
  const isCut = shown.length < lines.length;
  const count = isCut ? shown.length : line_count;
  const next_offset = isCut ? start_line + count : excerpt.next_offset;
  return {
    head: [
      `lines ${start_line}-${start_line + count - 1} of ${total_lines}`,
      ...remarks({ ...excerpt, next_offset }),
    ].join('; '),
    body: shown.join('\n'),
  };
});

/** The first lines, as many as fit. */
function fitting(lines: readonly string[]): readonly string[] {
  let left = mostBytes;
  const over = lines.findIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return over === -1 ? lines : lines.slice(0, Math.max(1, over));
}

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
