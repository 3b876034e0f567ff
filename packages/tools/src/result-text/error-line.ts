import { stripVTControlCharacters } from 'node:util';
import * as contract from '@holdpoint/contract';
import { z } from 'zod';

/** The head of a failed call. */
export function errorLine(status: contract.StepStatus, error: contract.Problem | undefined): string {
  if (error === undefined) return `error: the call is ${status.replace('_', ' ')}`;
  const { code, message, next } = error;
  const said = next === undefined || /[.!?:…]\s*$/.test(message) ? message : `${message}.`;
  return [`error ${code}: ${said}`, next].filter(Boolean).join(' ');
}

/**
 * A settled call as text for a model. The head is one line of Holdpoint's own words and always stands first; the body is content. A
 * command's output, a file or a page never stands before the head, so nothing in a body passes for Holdpoint's words.
 */
export interface ResultText {
  head: string;
  body: string;
  /** @default any status but `succeeded` */
  isError?: boolean;
  /** Images of the result, by their digests. A model sees them after the text. @default none */
  images?: contract.KeptImage[];
  /** A file with what the body says. A model that reads PDFs gets it in place of the body. @default none */
  pdf?: contract.KeptPdf;
}

/** A settled call whose result is the plain value of its tool. */
export interface PlainCall {
  status: contract.StepStatus;
  value?: contract.Json | undefined;
  error?: contract.Problem | undefined;
  /** Other parts stand for the body, with a note about the lines. @default false */
  isLong?: boolean | undefined;
}

/** Returns undefined for a value of another shape, for example of a dry run or of an older version: the value is shown as JSON then. */
export type RenderResult = (call: PlainCall) => ResultText | undefined;

/** Renders the value of a successful call. The text of a failed call is its error: its message says what the value says. */
export const renderValue =
  <Schema extends z.ZodType>(schema: Schema, render: (value: z.output<Schema>) => ResultText): RenderResult =>
  ({ status, value, error }) => {
    if (status !== 'succeeded') return { head: errorLine(status, error), body: '' };
    const parsed = schema.safeParse(value);
    return parsed.success ? render(parsed.data) : undefined;
  };

/** Controls other than tab and line feed. Some providers refuse a NUL, and none of them shows anything to a model. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are the subject
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

/** A character as `<U+0007>`. */
const named = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** The text of a file: each control character stays visible, because an edit needs the exact bytes. */
export const fileText = (text: string): string => text.toWellFormed().replace(controls, named);

/** The output of a command. Colours and cursor movements are dropped: without a terminal they say nothing and cost tokens. */
export const outputText = (text: string): string =>
  fileText(stripVTControlCharacters(text.toWellFormed()).replace(/\r+\n?/g, '\n'));

/** Without line breaks, for the head of a result and for one entry of a list. Unicode has three more line breaks than the controls. */
export const oneLine = (text: string): string => fileText(text.replace(/\s*[\r\n\u2028\u2029\u0085]+\s*/g, ' ')).trim();

/** A path as one line. A path with a control character or a line break is quoted as JSON. */
export const pathLine = (path: string): string =>
  /[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path).replace(/[\u007f-\u009f\u2028\u2029]/g, named) : path;

/** Without the line break at its end. */
export const withoutEnd = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text);

/** `1 match`, `5,120 matches`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** `12 paths`, or `500 of 812 paths`. */
export const shownOf = (shown: number, total: number | null, one: string, many?: string): string =>
  total !== null && total <= shown
    ? counted(shown, one, many)
    : `${shown.toLocaleString('en-US')} of ${total === null ? 'more' : total.toLocaleString('en-US')} ${many ?? `${one}s`}`;

const screenshot = z.object({
  image: contract.keptImageSchema,
  url: z.string(),
  status: z.int().optional(),
  title: z.string(),
  loaded: z.boolean(),
  cut: z.int().optional(),
  console: z.array(z.string()),
});

export const renderScreenshot = renderValue(screenshot, ({ image, url, status, title, loaded, cut, console }) => {
  const facts = [
    contract.imageLine(image),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(loaded ? [] : ['the page had not loaded']),
    ...(cut === undefined ? [] : [`the page is ${cut} px high`]),
  ];
  const lines = [`${oneLine(url)} ${oneLine(title)}`.trimEnd(), ...console.map(oneLine)];
  return { head: facts.join(', '), body: lines.join('\n'), images: [image] };
});

const schema = z.object({ results: z.array(z.json()), cursor: z.string().optional() });

/** The rows of a query, as lines with tabs. */
export const renderRows = renderValue(schema, ({ results, cursor }) => ({
  head: `${counted(results.length, 'result')}${cursor === undefined ? '' : `; continue with cursor ${cursor}`}`,
  body: table(results),
}));

type Row = Record<string, contract.Json>;

/** Rows below a line with the names of their fields: JSON repeats each name in each row. */
function table(rows: readonly contract.Json[]): string {
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

const isRow = (row: contract.Json): row is Row => typeof row === 'object' && row !== null && !Array.isArray(row);

function cell(value: contract.Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return oneLine(value.replaceAll('\t', ' '));
}
