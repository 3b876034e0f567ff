import { type FileErrorCode, fileErrorCodes } from '@holdpoint/contract';
import { z } from 'zod';
import { maxPartBytes, type OperationName, type Operations } from '../inside/tool-host/protocol.ts';

const size = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const entryType = z.enum(['file', 'directory', 'symlink', 'other']);
const path = z.string().min(1).max(5000);
const paths = z.array(z.string().min(1));
const mode = z.int().min(0).max(0o7777);

/** Answers of each operation. The tool host runs beside the agent's code, so the worker trusts nothing in an answer. */
const outputs: { [Name in OperationName]: z.ZodType<Operations[Name]['output']> } = {
  resolve: z.strictObject({ path }),
  stat: z.strictObject({ type: entryType, bytes: size, mode, mtime_ms: z.number() }),
  read: z.strictObject({ bytes: size, sha256: sha256.nullable(), mode }),
  write: z.strictObject({ path, bytes: size, created: z.boolean(), sha256 }),
  list: z.strictObject({
    entries: z.array(z.strictObject({ name: z.string().min(1), type: entryType, bytes: size, mtime_ms: z.number() })),
    total: size,
    totals: z.strictObject({ file: size, directory: size, symlink: size, other: size }),
  }),
  glob: z.strictObject({
    paths,
    total: size,
    truncated: z.boolean(),
    facts: z.array(z.strictObject({ bytes: size, mtime_ms: z.number() })),
  }),
  makeDirectory: z.strictObject({ created: paths }),
  remove: z.strictObject({ removed: paths, total: size }),
  move: z.strictObject({ from: path, to: path, type: entryType, replaced: z.boolean() }),
  search: z.strictObject({
    exit_code: z.int().min(0).max(255).nullable(),
    signal: z
      .string()
      .regex(/^SIG[A-Z0-9]{2,10}$/)
      .nullable(),
    nuls: size,
  }),
  cancel: z.strictObject({}),
};

const replySchema = z.union([
  z.strictObject({ id: z.int(), output: z.unknown(), data: size.optional() }),
  z.strictObject({ id: z.int(), part: z.enum(['stdout', 'stderr']), data: z.int().min(1).max(maxPartBytes) }),
  z.strictObject({
    id: z.int(),
    refused: z.strictObject({
      code: z.enum(Object.keys(fileErrorCodes) as [FileErrorCode, ...FileErrorCode[]]),
      message: z.string().max(10_000),
    }),
  }),
  z.strictObject({ id: z.int(), failed: z.string().max(10_000) }),
]);
/** 10,000 entries have 50,000 values. */
const maxValues = 60_000;

export type ParsedReply = z.infer<typeof replySchema>;

/** Null when the line is not a valid reply. */
export function parseReply(line: Buffer): ParsedReply | null {
  if (countValues(line) > maxValues) return null;
  try {
    return replySchema.parse(JSON.parse(line.toString('utf8')));
  } catch {
    return null;
  }
}

/** Null when the output does not fit the operation. */
export function parseOutput<Name extends OperationName>(
  name: Name,
  output: unknown,
): Operations[Name]['output'] | null {
  const parsed = (outputs[name] as z.ZodType<Operations[Name]['output']>).safeParse(output);
  return parsed.success ? parsed.data : null;
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const openers: ReadonlySet<number> = new Set([0x5b, 0x7b]);

/**
 * Estimates the number of values in a JSON text without parsing it: commas and opening brackets outside strings. 2 MiB take 4 ms. Parsing
 * and validating 2 MiB of empty objects takes seconds.
 */
function countValues(json: Uint8Array): number {
  let values = 1;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (quoted) {
      if (byte === backslash) at++;
      else if (byte === quote) quoted = false;
    } else if (byte === quote) quoted = true;
    else if (byte === comma || openers.has(byte)) values++;
  }
  return values;
}
