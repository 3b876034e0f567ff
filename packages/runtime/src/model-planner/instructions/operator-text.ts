import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';

const longest = 100_000;

/** HOLDPOINT_INSTRUCTIONS: the absolute path of a file, or a text. @throws when the file cannot be read, or the text is too long */
export function operatorTextFrom(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const given = env.HOLDPOINT_INSTRUCTIONS ?? '';
  if (given.trim() === '') return undefined;
  const text = isAbsolute(given) ? readInstructions(given) : given;
  if (text.length <= longest) return text;
  throw new Error(`HOLDPOINT_INSTRUCTIONS has ${text.length} characters; at most ${longest} are allowed`);
}

function readInstructions(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`HOLDPOINT_INSTRUCTIONS: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
