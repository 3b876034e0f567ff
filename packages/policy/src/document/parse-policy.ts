import { policySchema } from '@holdpoint/contract';
import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import type { PolicyProblem } from './check-catalog.ts';
import { schemaProblems } from './schema-problems.ts';

export type Parsed<Document> = { ok: true; document: Document } | { ok: false; problems: PolicyProblem[] };

/** A thousand rules are some 200 KiB. */
const maxBytes = 1024 * 1024;

/** Reads a document as YAML, a superset of JSON. Checks its shape alone; `checkRules` checks the meaning of the rules. */
export function parsePolicy<Schema extends z.ZodType = typeof policySchema>(
  text: string,
  schema: Schema = policySchema as unknown as Schema,
): Parsed<z.output<Schema>> {
  const read = readYaml(text);
  return read.ok
    ? parsePolicyValue(read.value, schema)
    : { ok: false, problems: [{ pointer: '', detail: read.detail }] };
}

export function parsePolicyValue<Schema extends z.ZodType = typeof policySchema>(
  value: unknown,
  schema: Schema = policySchema as unknown as Schema,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, document: parsed.data };
  return { ok: false, problems: schemaProblems(schema, parsed.error.issues, value) };
}

/** The value of a document in YAML, a superset of JSON. */
export function readYaml(text: string): { ok: true; value: unknown } | { ok: false; detail: string } {
  if (Buffer.byteLength(text) > maxBytes) return { ok: false, detail: `the document is larger than ${maxBytes} bytes` };
  const lines = new LineCounter();
  // With `uniqueKeys` the library compares each key of a map with all keys before: 70 KB of keys would take a second.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const [problem] = [...document.errors, ...document.warnings];
  const first = problem === undefined ? repeatedKey(document) : { at: problem.pos[0], message: problem.message };
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.at);
    return { ok: false, detail: `line ${line}, column ${col}: ${first.message}` };
  }
  try {
    // Aliases are copied: a few lines could become gigabytes.
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    // An alias of an enclosing node makes a circle. Throws then.
    JSON.stringify(value);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** The first repeated key of a map. */
function repeatedKey(document: Document): { at: number; message: string } | undefined {
  let found: { at: number; message: string } | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) {
          found = { at: key.range?.[0] ?? 0, message: 'Map keys must be unique' };
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}
