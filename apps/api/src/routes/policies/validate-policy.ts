import { operatorPolicyName, operatorPolicySchema, type Policy, policySchema } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { checkRules, parsePolicyValue } from '@holdpoint/policy';
import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { validatorCompiler } from '../../schema/validate.ts';

/** Fields of bodies next to a document. */
const others = /^\/(call|version|since|cursor|name|least)(\/|$)/;

/** Validates bodies. The error for an unknown name has the nearest valid name. */
export const policyBodyCompiler: FastifySchemaCompiler<z.ZodType> = (route) => (data) => {
  if (route.httpPart !== 'body') return validatorCompiler(route)(data);
  const parsed = parsePolicyValue(data, route.schema);
  if (parsed.ok) return { value: parsed.document };
  const isPolicy = parsed.problems.some(({ pointer }) => !others.test(pointer));
  return { error: refusal(parsed.problems, isPolicy ? 'invalid_policy' : 'invalid_request') };
};

/**
 * The document in its stored form under a name, with its defaults. Every rule must be able to match a call of some tool.
 * @param at JSON pointer of the document in the body
 * @throws ApiProblem `invalid_policy`
 */
export function checkDocument(deps: Pick<ApiDeps, 'catalog'>, value: unknown, { name = '', at = '' } = {}): Policy {
  const schema = name === operatorPolicyName ? operatorPolicySchema : policySchema;
  const parsed = parsePolicyValue(value, schema as typeof policySchema);
  const problems = parsed.ok ? checkRules(parsed.document.rules, toolsOf(deps)) : parsed.problems;
  if (parsed.ok && problems.length === 0) return parsed.document;
  throw refusal(problems.map(({ pointer, detail }) => ({ pointer: `${at}${pointer}`, detail })));
}

/** The tools of all toolsets. */
export const toolsOf = ({ catalog }: Pick<ApiDeps, 'catalog'>) =>
  catalog.toolsets().flatMap((toolset) => catalog.list(toolset).map((tool) => ({ ...tool, toolset })));

function refusal(
  errors: readonly PointerError[],
  code: 'invalid_policy' | 'invalid_request' = 'invalid_policy',
): ApiProblem {
  const [first] = errors;
  const detail = first === undefined ? 'the policy is not valid' : `${first.pointer || '/'}: ${first.detail}`;
  return new ApiProblem(code, detail, { errors });
}
