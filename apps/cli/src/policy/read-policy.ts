import * as contract from '@holdpoint/contract';
import { checkRules, type PolicyProblem, parsePolicy, placeProblems } from '@holdpoint/policy';
import type { z } from 'zod';
import { CliError, readGivenFile } from '../shell/index.ts';
import { catalogTools } from './catalog-tools.ts';

type AnySchema = typeof contract.policySchema | typeof contract.operatorPolicySchema;

export interface PolicyFile {
  file: string;
  /** Names modules with more tools. */
  environment: Readonly<Record<string, string>>;
}

/** Reads a document and checks the whole document. @throws CliError `invalid_policy` with every mistake by its pointer */
export async function readPolicy(of: PolicyFile): Promise<contract.Policy>;
export async function readPolicy<Schema extends AnySchema>(of: PolicyFile, schema?: Schema): Promise<z.output<Schema>>;
export async function readPolicy({ file, environment }: PolicyFile, schema?: AnySchema): Promise<unknown> {
  const content = await readGivenFile(process.cwd(), file, { code: 'no_policy' });
  return checkPolicyText({ file, environment }, content.toString(), schema);
}

/** @param of.file for messages. @throws CliError `invalid_policy` */
export async function checkPolicyText(
  { file, environment }: PolicyFile,
  text: string,
  schema: AnySchema = contract.policySchema,
): Promise<z.output<AnySchema>> {
  const parsed = parsePolicy(text, schema);
  if (!parsed.ok) throw invalid(file, text, parsed.problems);
  const problems = checkRules(parsed.document.rules, await catalogTools(environment));
  if (problems.length > 0) throw invalid(file, text, problems);
  return parsed.document;
}

const invalid = (file: string, text: string, problems: readonly PolicyProblem[]): CliError =>
  new CliError(
    'invalid_policy',
    placeProblems(text, problems)
      .map(({ pointer, detail, line, column }) => `${file}:${line}:${column}: ${pointer || '/'}: ${detail}`)
      .join('\n'),
  );

/**
 * Reads `--policy`: the name of a stored policy, `name@version`, or a file. A file is named with a slash or an extension.
 * @throws CliError `no_policy`, `invalid_policy`
 */
export async function givenPolicy(
  text: string,
  { environment }: { environment: Readonly<Record<string, string>> },
): Promise<contract.GivenPolicy> {
  const [name = '', version] = text.split('@', 2);
  const reference = contract.policyReferenceSchema.safeParse({
    name,
    ...(version !== undefined && { version: Number(version) }),
  });
  return reference.success ? reference.data : readPolicy({ file: text, environment });
}
