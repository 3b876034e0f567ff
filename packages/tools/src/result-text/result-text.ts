import type { Json, KeptImage, KeptPdf, Problem, StepStatus } from '@holdpoint/contract';
import type { z } from 'zod';
import { errorLine } from './error-line.ts';

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
  images?: KeptImage[];
  /** A file with what the body says. A model that reads PDFs gets it in place of the body. @default none */
  pdf?: KeptPdf;
}

/** A settled call whose result is the plain value of its tool. */
export interface PlainCall {
  status: StepStatus;
  value?: Json | undefined;
  error?: Problem | undefined;
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
