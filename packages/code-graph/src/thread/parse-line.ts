import { z } from 'zod';
import { fileFactsSchema } from '../facts.ts';
import { languages } from '../grammars/grammar-of.ts';
import type { ParseReply } from '../inside/protocol.ts';
import { unparsedReasons } from '../query/unparsed.ts';

const language = z.enum(languages);
const replySchema = z.union([
  z.strictObject({ language, facts: fileFactsSchema }),
  z.strictObject({ language: language.optional(), unparsed: z.enum(unparsedReasons) }),
]);

/** 20,000 facts have about 15 values each. */
const maxValues = 400_000;

/** Undefined for a line impossible for the parser. The parser works on files written by the agent, so nothing in the line is trusted. */
export function parseLine(line: Uint8Array): ParseReply | undefined {
  if (hasMoreValues(line)) return undefined;
  try {
    return replySchema.parse(JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8')));
  } catch {
    return undefined;
  }
}

const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];

/** Counts values in strings as well: no facts have as many. */
function hasMoreValues(line: Uint8Array): boolean {
  let values = 0;
  for (const byte of line) if (byte === comma || byte === bracket || byte === brace) values++;
  return values > maxValues;
}
