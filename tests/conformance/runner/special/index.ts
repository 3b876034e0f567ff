import { approvalText } from './approval.ts';
import { repeated, startedTogether } from './calls.ts';
import { definitions, descriptions, openAIFunctions } from './definitions.ts';
import type { Special } from './special.ts';
import { transaction } from './transaction.ts';

const specials: Readonly<Record<string, Special>> = {
  $approval: approvalText,
  $async: startedTogether,
  $definitions: definitions,
  $descriptions: descriptions,
  $openAIFunctions: openAIFunctions,
  $repeat: repeated,
  $transaction: transaction,
};

export const specialOf = (tool: string): Special | undefined =>
  Object.hasOwn(specials, tool) ? specials[tool] : undefined;
