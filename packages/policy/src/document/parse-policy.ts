import { policySchema } from '@holdpoint/contract';
import { LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import type { PolicyProblem } from './problem.ts';
import { schemaProblems } from './schema-problems.ts';

export type Parsed<Document> = { ok: true; document: Document } | { ok: false; problems: PolicyProblem[] };

/** A thousand rules are some 200 KiB. */
const maxBytes = 1024 * 1024;

/** Reads a document as YAML, which JSON is a part of. Checks its shape alone; `checkRules` checks what the rules mean. */
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

function readYaml(text: string): { ok: true; value: unknown } | { ok: false; detail: string } {
  if (Buffer.byteLength(text) > maxBytes) return { ok: false, detail: `the document is larger than ${maxBytes} bytes` };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.pos[0]);
    return { ok: false, detail: `line ${line}, column ${col}: ${first.message}` };
  }
  try {
    // Aliases are copied: a few lines could become gigabytes.
    return { ok: true, value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}
