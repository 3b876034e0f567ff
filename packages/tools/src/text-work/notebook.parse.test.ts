import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readNotebook } from './notebook.ts';

const code = (source: unknown, outputs: unknown[] = []) => ({ cell_type: 'code', source, outputs });
const read = (notebook: unknown, { offset = 1, limit = 2000 } = {}) =>
  readNotebook({ data: Buffer.from(JSON.stringify(notebook)), offset, limit });
const notebook = (cells: unknown[]) => ({ nbformat: 4, metadata: { language_info: { name: 'python' } }, cells });

test('cells have their source and what their outputs say, a picture by its type', () => {
  const outputs = [
    { output_type: 'stream', text: ['a\n', 'b'] },
    { output_type: 'display_data', data: { 'text/plain': '<Figure>', 'image/png': 'iVBOR'.repeat(1000) } },
    { output_type: 'error', ename: 'KeyError', evalue: "'x'", traceback: ['…'] },
  ];
  expect(read(notebook([{ cell_type: 'markdown', source: ['# A\n', 'text'] }, code('plot()', outputs)]))).toEqual({
    ...{ past: false, language: 'python', start_cell: 1, total_cells: 2 },
    cells: [
      { number: 1, type: 'markdown', source: '# A\ntext', outputs: [] },
      {
        number: 2,
        type: 'code',
        source: 'plot()',
        outputs: ['a\nb', '<Figure>\n[image/png, 5002 bytes]', "KeyError: 'x'"],
      },
    ],
  });
});

test('JSON that is no notebook, and no JSON, are none', () => {
  for (const other of [{}, [], { cells: [] }, { nbformat: 'x', cells: [] }, null]) expect(read(other)).toBeUndefined();
  expect(readNotebook({ data: Buffer.from('{"cells": ['), offset: 1, limit: 1 })).toBeUndefined();
});

test('a long notebook is read part by part, and no output is larger than its bound', () => {
  const cells = Array.from({ length: 60 }, (_, at) => code(`${at}`, [{ text: 'é'.repeat(50_000) }]));
  const numbers: number[] = [];
  for (let offset = 1; offset <= 60; ) {
    const part = read(notebook(cells), { offset });
    if (part === undefined || part.past) throw new Error('nothing was read');
    expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(70_000);
    numbers.push(...part.cells.map(({ number }) => number));
    offset += part.cells.length;
  }
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
  expect(read(notebook(cells), { offset: 61 })).toEqual({ past: true, total_cells: 60 });
});

test('whatever stands in the cells, the reader answers', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.constantFrom('cell_type', 'source', 'outputs', 'x'), fc.jsonValue())),
      (cells) => {
        const part = read(notebook(cells));
        expect(part).toMatchObject({ past: false, total_cells: cells.length });
      },
    ),
    { numRuns: 300 },
  );
});
