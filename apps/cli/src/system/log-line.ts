import { z } from 'zod';

const lineSchema = z.looseObject({
  /** Lines for a supervisor have none. */
  level: z.number().default(30),
  msg: z.string().default(''),
  event: z.string().optional(),
  address: z.string().optional(),
  err: z.union([z.string(), z.looseObject({ message: z.string(), next: z.string().optional() })]).optional(),
});
/** The fields of a child's log line that `up` reads. */
export type LogLine = z.infer<typeof lineSchema>;

/** Undefined for any other line, such as a stack trace. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return lineSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const warning = 40;

/** The text of a warning or an error; undefined for other lines. */
export function problemOf(line: LogLine): string | undefined {
  if (line.level < warning) return undefined;
  const error = typeof line.err === 'string' ? line.err : line.err?.message;
  return [line.msg, error].filter((part) => part !== undefined && part !== '').join(': ');
}

/** The error's advice, when it has one. */
export const nextOf = ({ err }: LogLine): string | undefined => (typeof err === 'object' ? err.next : undefined);
