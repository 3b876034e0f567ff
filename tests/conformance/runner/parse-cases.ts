import { readFileSync } from 'node:fs';
import { type Case, caseSchema } from './case.ts';

/** An invalid line, or an unreadable file: nothing is run. */
export class CaseFileError extends Error {
  override readonly name = 'CaseFileError';
}

/** A case, with its place. */
export interface ReadCase extends Case {
  file: string;
  line: number;
}

/** Reads every case of the files, in order. @throws CaseFileError with the file and the line */
export function readCases(files: readonly string[]): ReadCase[] {
  const cases = files.flatMap((file) => parseCases(file, read(file)));
  const seen = new Map<string, ReadCase>();
  for (const one of cases) {
    const other = seen.get(one.id);
    if (other) throw refusal(one.file, one.line, `the id ${one.id} is that of ${other.file}:${other.line}`);
    seen.set(one.id, one);
  }
  return cases;
}

export function parseCases(file: string, text: string): ReadCase[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const cases = lines.flatMap((line, index) =>
    line.trim() === '' ? [] : [{ ...parseLine(file, index + 1, line), file, line: index + 1 }],
  );
  if (cases.length === 0) throw refusal(file, 1, 'the file has no case');
  return cases;
}

function parseLine(file: string, line: number, text: string): Case {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw refusal(file, line, cause instanceof Error ? cause.message : String(cause));
  }
  const parsed = caseSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `/${path.map(String).join('/')}: ${message}`);
  throw refusal(file, line, problems.join('; '));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refusal(file, 1, cause instanceof Error ? cause.message : String(cause));
  }
}

const refusal = (file: string, line: number, problem: string): CaseFileError =>
  new CaseFileError(`${file}:${line}: ${problem}`);
