import { approvalText } from './approval.ts';
import { repeated, startedTogether } from './calls.ts';
import { approvalMatch, outputForm } from './cli-agent.ts';
import { definitions, descriptions, openAIFunctions } from './definitions.ts';
import type { Special } from './special.ts';
import { transaction } from './transaction.ts';

const specials: Readonly<Record<string, Special>> = {
  $approval: approvalText,
  $approvalMatch: approvalMatch,
  $async: startedTogether,
  $definitions: definitions,
  $descriptions: descriptions,
  $format: outputForm,
  $openAIFunctions: openAIFunctions,
  $repeat: repeated,
  $transaction: transaction,
};

export const specialOf = (tool: string): Special | undefined =>
  Object.hasOwn(specials, tool) ? specials[tool] : undefined;
