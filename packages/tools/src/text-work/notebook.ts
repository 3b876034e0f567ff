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
  | { past: false; language: string; start_cell: number; total_cells: number; cells: NotebookCell[] };

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

const most = { cell: 16 * 1024, output: 2000, outputs: 10, all: 64 * 1024, name: 40 };

/** Reads cells with their outputs, each cut to a bound: a printed table or a picture in an output may have megabytes. */
export function readNotebook({ data, offset, limit }: NotebookInput): Notebook | undefined {
  const parsed = notebookSchema.safeParse(parse(data)).data;
  if (parsed === undefined) return undefined;
  const { cells, metadata } = parsed;
  if (offset > Math.max(1, cells.length)) return { past: true, total_cells: cells.length };
  const shown: NotebookCell[] = [];
  let left = most.all;
  for (const [at, cell] of cells.slice(offset - 1, offset - 1 + limit).entries()) {
    const read = readCell(cell, offset + at);
    left -= Buffer.byteLength(JSON.stringify(read));
    if (left < 0 && shown.length > 0) break;
    shown.push(read);
  }
  const language = metadata?.language_info?.name ?? metadata?.kernelspec?.language ?? 'unknown language';
  const about = { start_cell: offset, total_cells: cells.length };
  return { past: false, language: language.slice(0, most.name), ...about, cells: shown };
}

function parse(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}

function readCell({ cell_type, source = '', outputs = [] }: z.output<typeof cellSchema>, number: number): NotebookCell {
  const read = outputs.slice(0, most.outputs).map((output) => cut(outputText(output), most.output));
  if (outputs.length > most.outputs) read.push(`[${outputs.length - most.outputs} more outputs]`);
  return { number, type: cell_type.slice(0, most.name), source: cut(source, most.cell), outputs: read };
}

function outputText({ text, data, ename, evalue }: z.output<typeof outputSchema>): string {
  if (ename !== undefined) return `${ename}: ${evalue ?? ''}`;
  if (text !== undefined) return text;
  if (data === undefined) return '';
  const plain = textOf(data['text/plain']);
  const other = Object.entries(data).filter(([type]) => type !== 'text/plain');
  const left = other.map(
    ([type, value]) => `[${type.slice(0, most.name)}, ${JSON.stringify(value)?.length ?? 0} bytes]`,
  );
  return [plain, ...left.slice(0, 5)].filter(Boolean).join('\n');
}

const textOf = (value: unknown): string => text.parse(value ?? '');

/** Keeps both ends: the last lines of an output are often its reason. */
function cut(whole: string, longest: number): string {
  if (whole.length <= longest) return whole;
  const half = Math.floor(longest / 2);
  const [first, last] = [whole.slice(0, half), whole.slice(-half)].map((part) => part.toWellFormed());
  return `${first}\n[${whole.length - 2 * half} characters left out]\n${last}`;
}
