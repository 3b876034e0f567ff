import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { largestKind } from './find-kinds.ts';
import type { KindDocument } from './parse-kind.ts';

const mostDocuments = 200;

/**
 * The documents of HOLDPOINT_AGENTS. @throws for a relative path, an unreadable folder, too many documents or a document above the size
 * limit
 */
export function operatorKindsFrom(env: Readonly<Record<string, string | undefined>>): KindDocument[] {
  const folder = env.HOLDPOINT_AGENTS ?? '';
  if (folder === '') return [];
  if (!isAbsolute(folder)) throw new Error(`HOLDPOINT_AGENTS: expected an absolute path, got ${folder}`);
  const names = documentsIn(folder);
  if (names.length > mostDocuments)
    throw new Error(`HOLDPOINT_AGENTS: ${folder} has more than ${mostDocuments} documents`);
  return names.sort().map((file) => {
    const path = join(folder, file);
    if (statSync(path).size > largestKind)
      throw new Error(`HOLDPOINT_AGENTS: ${path} is larger than ${largestKind} bytes`);
    return { origin: 'operator' as const, file, text: readFileSync(path, 'utf8'), isForeign: false };
  });
}

function documentsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.md'));
  } catch (cause) {
    throw new Error(`HOLDPOINT_AGENTS: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
