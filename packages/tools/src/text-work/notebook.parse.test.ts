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
    pictures: [],
  });
});

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const plot = (data: unknown) => code('plot()', [{ data: { 'image/png': data, 'text/plain': '<Figure>' } }]);

test('the first pictures that a provider reads are shown, others are named by their type', () => {
  const lines = [png.slice(0, 40), png.slice(40)];
  const svg = code('draw()', [{ data: { 'image/svg+xml': '<svg/>', 'image/png': png.slice(0, -40) } }]);
  const part = read(notebook([plot(lines), svg, ...Array.from({ length: 5 }, () => plot(png))]));
  if (part === undefined || part.past) throw new Error('nothing was read');
  expect(part.pictures.map(({ cell }) => cell)).toEqual([1, 3, 4, 5]);
  for (const { data } of part.pictures) expect(data.equals(Buffer.from(png, 'base64'))).toBe(true);
  const outputs = part.cells.map((one) => one.outputs);
  expect(outputs[0]).toEqual(['<Figure>\n[image/png: image 1 below]']);
  expect(outputs[1]).toEqual(['[image/svg+xml, 8 bytes]\n[image/png, 58 bytes]']);
  expect(outputs[5]).toEqual([`<Figure>\n[image/png, ${png.length + 2} bytes]`]);
});

test('a picture that is too large, and one of a cell that is left out, are not shown', () => {
  const large = Buffer.concat([Buffer.from(png, 'base64'), Buffer.alloc(1024 * 1024)]).toString('base64');
  expect(read(notebook([plot(large)]))).toMatchObject({ pictures: [] });
  const long = Array.from({ length: 4 }, () => code('x'.repeat(16 * 1024)));
  const part = read(notebook([...long, plot(png)]));
  expect(part).toMatchObject({ pictures: [] });
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
