import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Policy } from '@holdpoint/contract';
import { checkRules, type PolicyProblem, parsePolicy } from '@holdpoint/policy';
import { CliError } from '../shell/index.ts';
import { catalogTools } from './catalog-tools.ts';

/** Reads a document and checks all of it. @throws CliError `invalid_policy`, which lists every mistake by its pointer */
export async function readPolicy(file: string): Promise<Policy> {
  let text: string;
  try {
    text = await readFile(resolve(file), 'utf8');
  } catch (cause) {
    throw new CliError('no_policy', `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw invalid(file, parsed.problems);
  const problems = checkRules(parsed.document.rules, catalogTools());
  if (problems.length > 0) throw invalid(file, problems);
  return parsed.document;
}

const invalid = (file: string, problems: readonly PolicyProblem[]): CliError =>
  new CliError(
    'invalid_policy',
    problems.map(({ pointer, detail }) => `${file}: ${pointer || '/'}: ${detail}`).join('\n'),
  );
