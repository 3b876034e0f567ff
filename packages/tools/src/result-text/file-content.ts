import { imageLine, keptImageSchema, keptPdfSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { type RenderResult, renderValue } from './result-text.ts';
import { fileText, oneLine, outputText, withoutEnd } from './shown-text.ts';

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

/** The text of a file that was read, by what it is. */
export const renderContent: RenderResult = (call) => {
  if (call.status !== 'succeeded') return renderLines(call);
  return renderImage(call) ?? renderNotebook(call) ?? renderPages(call) ?? renderLines(call);
};

const renderImage = renderValue(z.object({ image: keptImageSchema }), ({ image }) => ({
  head: imageLine(image),
  body: '',
  images: [image],
}));

const cell = z.object({ number: z.int(), type: z.string(), source: z.string(), outputs: z.array(z.string()) });
const notebook = z.object({
  language: z.string(),
  start_cell: z.int(),
  total_cells: z.int(),
  cells: z.array(cell),
  next_offset: z.int().optional(),
  images: z.array(keptImageSchema).optional(),
});

const page = z.object({ page: z.int(), text: z.string(), cut: z.int().optional() });
const document = z.object({
  total_pages: z.int(),
  pages: z.array(page),
  next_offset: z.int().optional(),
  pdf: keptPdfSchema.optional(),
});

/** Every line of a page begins with a tab, so no page can pass for another one. */
const renderPages = renderValue(z.object({ document }), ({ document: { total_pages, pages, next_offset, pdf } }) => {
  const [first = 0, last = 0] = [pages[0]?.page, pages.at(-1)?.page];
  const more = next_offset === undefined ? '' : `; continue with offset ${next_offset}`;
  const shown = pdf === undefined ? 'text of a PDF' : 'PDF';
  const isPictures = pages.every(({ text }) => text.trim() === '');
  return {
    head: `${shown}, pages ${first}-${last} of ${total_pages}${more}`,
    body: [...(isPictures ? [onlyPictures] : []), ...pages.map(pageText)].join('\n'),
    ...(pdf !== undefined && { pdf }),
  };
});

const onlyPictures =
  'These pages may be pictures. To see one, make it an image with a command, e.g. `pdftoppm -r 80 -png -f 1 -l 1 IN.pdf page`, and read that.';

function pageText({ page: number, text, cut }: z.output<typeof page>): string {
  const title = cut === undefined ? `page ${number}` : `page ${number}; ${cut} characters at its end are left out`;
  return text === '' ? `${title}, without text` : `${title}\n${indented(fileText(text))}`;
}

/** Every line of a cell begins with a tab, so no cell can pass for another one. */
const renderNotebook = renderValue(z.object({ notebook }), ({ notebook }) => {
  const { language, start_cell, total_cells, cells, next_offset, images } = notebook;
  const shown =
    cells.length === 0 ? 'no cells' : `cells ${start_cell}-${start_cell + cells.length - 1} of ${total_cells}`;
  const more = next_offset === undefined ? '' : `; continue with offset ${next_offset}`;
  return {
    head: `notebook (${oneLine(language)}), ${shown}${more}. To change it, edit its JSON: bash shows that`,
    body: cells.map(cellText).join('\n'),
    ...(images !== undefined && { images }),
  };
});

function cellText({ number, type, source, outputs }: z.output<typeof cell>): string {
  const parts = outputs
    .filter((text) => text.trim() !== '')
    .map((text) => [`output of cell ${number}`, indented(outputText(text))]);
  return [`cell ${number} (${oneLine(type)})`, indented(fileText(source)), ...parts.flat()].join('\n');
}

const indented = (text: string): string => withoutEnd(text).replace(/^/gm, '\t');
