import { approvalText } from './approval.ts';
import { repeated, startedTogether } from './calls.ts';
import { approvalMatch, outputForm } from './cli-agent.ts';
import { customTool } from './custom-tool.ts';
import { definitions, descriptions, openAIFunctions } from './definitions.ts';
import { onRegistry } from './registry.ts';
import type { Special } from './special.ts';
import { transaction } from './transaction.ts';

const specials: Readonly<Record<string, Special>> = {
  $approval: approvalText,
  $approvalMatch: approvalMatch,
  $async: startedTogether,
  $customTool: customTool,
  $definitions: definitions,
  $descriptions: descriptions,
  $format: outputForm,
  $openAIFunctions: openAIFunctions,
  $registry: onRegistry,
  $repeat: repeated,
  $transaction: transaction,
};

export const specialOf = (tool: string): Special | undefined =>
  Object.hasOwn(specials, tool) ? specials[tool] : undefined;
