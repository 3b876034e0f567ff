import { imageBounds, readImageFacts } from '@holdpoint/contract/names';
import { z } from 'zod';

export interface NotebookInput {
  data: Buffer;
  /** First cell, counted from 1. */
  offset: number;
  /** Cells at most. */
  limit: number;
}

interface NotebookCell {
  number: number;
  type: string;
  source: string;
  outputs: string[];
}

/** Cells of a Jupyter notebook. Undefined: the file is none. `past`: the offset is behind the last cell. */
export type Notebook =
  | { past: true; total_cells: number }
  | {
      past: false;
      language: string;
      start_cell: number;
      total_cells: number;
      cells: NotebookCell[];
      /** The first pictures in the outputs, in their order. */
      pictures: Picture[];
    };

interface Picture {
  /** The number of its cell. */
  cell: number;
  data: Buffer;
}

/** A text of a notebook: one string, or its lines. */
const text = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(''))]).catch('');
const data = z.record(z.string(), z.unknown()).catch({});
const outputSchema = z.object({
  text: text.optional(),
  data: data.optional(),
  ename: z.string().optional().catch(undefined),
  evalue: z.string().optional().catch(undefined),
});
const cellSchema = z.object({
  cell_type: z.string().catch('raw'),
  source: text.optional(),
  outputs: z.array(outputSchema.catch({})).optional().catch([]),
});
const notebookSchema = z.object({
  nbformat: z.int(),
  cells: z.array(cellSchema.catch({ cell_type: 'raw' })),
  metadata: z
    .object({ kernelspec: z.object({ language: z.string() }), language_info: z.object({ name: z.string() }) })
    .partial()
    .catch({}),
});

const most = {
  cell: 16 * 1024,
  output: 2000,
  outputs: 10,
  all: 64 * 1024,
  name: 40,
  pictures: 4,
  picture: 1024 * 1024,
};

/** Reads cells with their outputs, each cut to a bound: a printed table or a picture in an output may have megabytes. */
export function readNotebook({ data, offset, limit }: NotebookInput): Notebook | undefined {
  const parsed = notebookSchema.safeParse(parse(data)).data;
  if (parsed === undefined) return undefined;
  const { cells, metadata } = parsed;
  if (offset > Math.max(1, cells.length)) return { past: true, total_cells: cells.length };
  const shown: NotebookCell[] = [];
  const pictures: Picture[] = [];
  let left = most.all;
  for (const [at, cell] of cells.slice(offset - 1, offset - 1 + limit).entries()) {
    const seen = pictures.length;
    const read = readCell(cell, offset + at, pictures);
    left -= Buffer.byteLength(JSON.stringify(read));
    if (left < 0 && shown.length > 0) {
      pictures.length = seen;
      break;
    }
    shown.push(read);
  }
  const language = metadata?.language_info?.name ?? metadata?.kernelspec?.language ?? 'unknown language';
  const about = { start_cell: offset, total_cells: cells.length };
  return { past: false, language: language.slice(0, most.name), ...about, cells: shown, pictures };
}

function parse(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}

/** @param pictures gets the pictures of the cell, while there are few */
function readCell(
  { cell_type, source = '', outputs = [] }: z.output<typeof cellSchema>,
  number: number,
  pictures: Picture[],
): NotebookCell {
  const show = (type: string, value: unknown): string | undefined => {
    const data = pictures.length < most.pictures ? pictureOf(type, value) : undefined;
    return data && `[${type}: image ${pictures.push({ cell: number, data })} below]`;
  };
  const read = outputs.slice(0, most.outputs).map((output) => cut(outputText(output, show), most.output));
  if (outputs.length > most.outputs) read.push(`[${outputs.length - most.outputs} more outputs]`);
  return { number, type: cell_type.slice(0, most.name), source: cut(source, most.cell), outputs: read };
}

/** The bytes of a picture that a provider reads; undefined for any other value. */
function pictureOf(type: string, value: unknown): Buffer | undefined {
  if (!type.startsWith('image/')) return undefined;
  const base64 = textOf(value);
  if (base64.length > (most.picture * 4) / 3) return undefined;
  const data = Buffer.from(base64, 'base64');
  const facts = readImageFacts(data);
  return facts !== undefined && Math.max(facts.width, facts.height) <= imageBounds.side ? data : undefined;
}

/** @param show says where a picture is shown; undefined: it is named alone */
function outputText(
  { text, data, ename, evalue }: z.output<typeof outputSchema>,
  show: (type: string, value: unknown) => string | undefined,
): string {
  if (ename !== undefined) return `${ename}: ${evalue ?? ''}`;
  if (text !== undefined) return text;
  if (data === undefined) return '';
  const plain = textOf(data['text/plain']);
  const other = Object.entries(data).filter(([type]) => type !== 'text/plain');
  const left = other
    .slice(0, 5)
    .map(
      ([type, value]) =>
        show(type, value) ?? `[${type.slice(0, most.name)}, ${JSON.stringify(value)?.length ?? 0} bytes]`,
    );
  return [plain, ...left].filter(Boolean).join('\n');
}

const textOf = (value: unknown): string => text.parse(value ?? '');

/** Keeps both ends: the last lines of an output are often its reason. */
function cut(whole: string, longest: number): string {
  if (whole.length <= longest) return whole;
  const half = Math.floor(longest / 2);
  const [first, last] = [whole.slice(0, half), whole.slice(-half)].map((part) => part.toWellFormed());
  return `${first}\n[${whole.length - 2 * half} characters left out]\n${last}`;
}
