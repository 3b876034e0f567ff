import { z } from 'zod';

/** Lines and columns count from 1; columns count UTF-16 units, as editors do. */
const placeSchema = z.strictObject({ line: z.int(), column: z.int() });

/** A declaration. */
const symbolFactSchema = z.strictObject({
  name: z.string(),
  kind: z.enum(['function', 'method', 'class', 'interface', 'type', 'enum', 'variable', 'constant', 'field', 'module']),
  /** The names of the declarations around it, outermost first. */
  container: z.array(z.string()),
  /** Another file can name it. */
  exported: z.boolean(),
  /** The names by which other files import it, where these are not its own: `default`, or `b` after `export { a as b }`. */
  exported_as: z.array(z.string()).optional(),
  start: placeSchema,
  end: placeSchema,
});
export type SymbolFact = z.infer<typeof symbolFactSchema>;

/** An import, an include, or a re-export of another file. */
const importFactSchema = z.strictObject({
  /** As it is written: `./a.ts`, `os.path`, `fmt`. */
  source: z.string(),
  /** The names that it brings, and what they are called here. Empty: the module as a whole, or only its effects. */
  names: z.array(z.strictObject({ name: z.string(), as: z.string() })),
  /** The name of the module as a whole here: `import * as x`, `import x`. */
  whole: z.string().optional(),
  reexport: z.boolean(),
  start: placeSchema,
});
export type ImportFact = z.infer<typeof importFactSchema>;

/** A use of a name that is no declaration. */
export const referenceFactSchema = z.strictObject({
  name: z.string(),
  /** What stands before it: `a` in `a.name`. */
  qualifier: z.string().optional(),
  kind: z.enum(['call', 'type', 'value', 'extends']),
  start: placeSchema,
});
export type ReferenceFact = z.infer<typeof referenceFactSchema>;

/** What the bytes of one file say. Depends on the bytes, the language and the version of the extractor alone. */
export const fileFactsSchema = z.strictObject({
  symbols: z.array(symbolFactSchema),
  imports: z.array(importFactSchema),
  references: z.array(referenceFactSchema),
  /** The parser met text that is not of the language: what it read around it is here. */
  has_errors: z.boolean(),
  /** More of them than a file may have: what is here is the first part. */
  cut: z.boolean(),
});
export type FileFacts = z.infer<typeof fileFactsSchema>;
