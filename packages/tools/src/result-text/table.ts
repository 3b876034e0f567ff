import type { Json } from '@holdpoint/contract';
import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { counted, oneLine } from './shown-text.ts';

const schema = z.object({ results: z.array(z.json()), cursor: z.string().optional() });

/** The rows of a query, as lines with tabs. */
export const renderRows = renderValue(schema, ({ results, cursor }) => ({
  head: `${counted(results.length, 'result')}${cursor === undefined ? '' : `; continue with cursor ${cursor}`}`,
  body: table(results),
}));

type Row = Record<string, Json>;

/** Rows below a line with the names of their fields: JSON repeats each name in each row. */
function table(rows: readonly Json[]): string {
  if (rows.length === 0 || !rows.every(isRow)) return rows.map((row) => JSON.stringify(row)).join('\n');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) =>
    names
      .map((name) => cell(row[name]))
      .join('\t')
      .trimEnd(),
  );
  return [names.map(oneLine).join('\t'), ...lines].join('\n');
}

const isRow = (row: Json): row is Row => typeof row === 'object' && row !== null && !Array.isArray(row);

function cell(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return oneLine(value.replaceAll('\t', ' '));
}
