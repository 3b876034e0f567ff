import { imageLine, keptImageSchema, keptPdfSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { renderLines } from './numbered-lines.ts';
import { type RenderResult, renderValue } from './result-text.ts';
import { fileText, oneLine, outputText, withoutEnd } from './shown-text.ts';

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
