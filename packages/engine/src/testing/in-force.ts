import { type OperatorPolicy, operatorPolicySchema } from '@holdpoint/contract';
import { policyDigest } from '@holdpoint/policy';
import type { OperatorInForce } from '../domain/index.ts';

/** A policy of the operator as a process has it. */
export const inForce = (document: Partial<OperatorPolicy>): OperatorInForce => {
  const parsed = operatorPolicySchema.parse(document);
  return { document: parsed, digest: policyDigest(parsed) };
};
