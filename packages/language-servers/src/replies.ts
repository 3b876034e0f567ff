import { z } from 'zod';

/** Bounds of what a hostile server may answer. */
const path = z.string().min(1).max(4096);
const count = z.int().min(0).max(10_000_000);
const typeProblem = z.strictObject({ path, line: count, column: count, message: z.string().max(20_000) });
const place = z.strictObject({ path, line: count, column: count, text: z.string().max(20_000) });
const edit = z.strictObject({ start: count, end: count, text: z.string().max(10_000) });
const fileRename = z.strictObject({ path, sha256: z.string().length(64), edits: z.array(edit).max(20_000) });
const problem = z.strictObject({
  code: z.enum(['ENOSYMBOL', 'ENOPLACE', 'ERENAME', 'EREFUSED', 'ESERVER', 'ETIMEOUT']),
  message: z.string().max(10_000),
});

/** A line of the program inside. */
export const replySchema = z.union([
  z.strictObject({ started: z.literal(true) }),
  z.strictObject({ problems: z.array(typeProblem).max(10_000) }),
  z.strictObject({ places: z.array(place).max(500), total: count }),
  z.strictObject({ files: z.array(fileRename).max(5000) }),
  z.strictObject({ problem }),
]);
