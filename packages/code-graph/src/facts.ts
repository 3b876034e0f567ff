import { z } from 'zod';

/** Lines and columns count from 1; columns count UTF-16 units, as editors do. */
const placeSchema = z.strictObject({ line: z.int(), column: z.int() });

/** A declaration. */
const symbolFactSchema = z.strictObject({
  name: z.string(),
  kind: z.enum(['function', 'method', 'class', 'interface', 'type', 'enum', 'variable', 'constant', 'field', 'module']),
  /** The names of the declarations around the symbol, outermost first. */
  container: z.array(z.string()),
  /** Another file can name the symbol. */
  exported: z.boolean(),
  /** The names by which other files import the symbol, when different from its own name: `default`, or `b` after `export { a as b }`. */
  exported_as: z.array(z.string()).optional(),
  start: placeSchema,
  end: placeSchema,
});
export type SymbolFact = z.infer<typeof symbolFactSchema>;

/** An import, an include, or a re-export of another file. */
const importFactSchema = z.strictObject({
  /** In the words of the file: `./a.ts`, `os.path`, `fmt`. */
  source: z.string(),
  /** The imported names, and their names in this file. Empty: the module as a whole, or only its effects. */
  names: z.array(z.strictObject({ name: z.string(), as: z.string() })),
  /** The name of the module as a whole here: `import * as x`, `import x`. */
  whole: z.string().optional(),
  reexport: z.boolean(),
  start: placeSchema,
});
export type ImportFact = z.infer<typeof importFactSchema>;

/** A use of a name outside of declarations. */
export const referenceFactSchema = z.strictObject({
  name: z.string(),
  /** The text before the name: `a` in `a.name`. */
  qualifier: z.string().optional(),
  kind: z.enum(['call', 'type', 'value', 'extends']),
  start: placeSchema,
});
export type ReferenceFact = z.infer<typeof referenceFactSchema>;

/** The facts read from the bytes of a file. Depends on the bytes, the language and the version of the extractor alone. */
export const fileFactsSchema = z.strictObject({
  symbols: z.array(symbolFactSchema),
  imports: z.array(importFactSchema),
  references: z.array(referenceFactSchema),
  /** The parser met text foreign to the language: the facts around such text are included. */
  has_errors: z.boolean(),
  /** More facts than permitted to a file: only the first part is here. */
  cut: z.boolean(),
});
export type FileFacts = z.infer<typeof fileFactsSchema>;

/** A place where the text of a file does not follow the grammar of its language. Lines and columns count from 1. */
export const syntaxProblemSchema = z.strictObject({
  line: z.int().min(1),
  column: z.int().min(1),
  message: z.string().max(300),
});
export type SyntaxProblem = z.infer<typeof syntaxProblemSchema>;
