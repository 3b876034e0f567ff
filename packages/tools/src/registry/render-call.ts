import * as contract from '@holdpoint/contract';
import { z } from 'zod';
import { readStreams, renderCommand } from '../result-text/command-output.ts';
import { renderPlainly } from '../result-text/plain-value.ts';
import type { PlainCall, ResultText } from '../result-text/result-text.ts';
import { oneLine } from '../result-text/shown-text.ts';
import { asJson, presentPlainly, type Toolset } from '../toolset.ts';
import type { DefectLog } from './check-output.ts';

/** A settled call with the result made by its toolset. */
export interface PresentedCall {
  tool: string;
  status: contract.StepStatus;
  result: contract.Json;
  /** The body is not shown. @default false */
  isLong?: boolean | undefined;
}

/** Whether a model reads results of the toolset as text. The form of a contract is the contract's own: a model reads it as JSON. */
export const rendersText = (toolset: Toolset | undefined): boolean =>
  toolset?.present === undefined || toolset.present === presentPlainly;

/** The text of a settled call; undefined for a toolset with a form of its own. Pure. Never throws. */
export function renderCall(
  toolset: Toolset | undefined,
  { tool, status, result, isLong }: PresentedCall,
  log: DefectLog,
): ResultText | undefined {
  if (!rendersText(toolset)) return undefined;
  const call = { ...(status === 'succeeded' ? { status, value: result } : failed(status, result)), isLong };
  const render = toolset?.tools.find(({ name }) => name === tool)?.render;
  try {
    return framed(status, textSchema.parse(render?.(call) ?? renderPlainly(call)));
  } catch (err) {
    log.error({ toolset: toolset?.name, tool, err }, 'a tool could not render a result');
    return framed(status, renderPlainly(call));
  }
}

const textSchema = z.object({
  head: z.string(),
  body: z.string(),
  isError: z.boolean().optional(),
  images: z.array(contract.keptImageSchema).optional(),
  pdf: contract.keptPdfSchema.optional(),
});

/**
 * Keeps the head in one line, so a path or an error text cannot begin the body. The words of a person who rejected the call keep their
 * lines: nothing ran, so the result has no content which could imitate them.
 */
const framed = (status: contract.StepStatus, { head, ...text }: ResultText): ResultText =>
  status === 'rejected' || status === 'expired' ? { head, ...text } : { head: oneLine(head), ...text };

const plainFailure = z.object({
  error: z.object({ code: z.string(), message: z.string(), next: z.string().optional() }).optional(),
  value: z.json().optional(),
});

/** Reads the form of `presentPlainly`. */
function failed(status: contract.StepStatus, result: contract.Json): PlainCall {
  const parsed = plainFailure.safeParse(result);
  if (!parsed.success) return { status, value: result };
  const { error, value } = parsed.data;
  return { status, value, error: error as contract.Problem | undefined };
}

/** The content of an outcome for a model, before the outcome is recorded. `isCut`: the middle of the output is missing. */
export type OutcomeText =
  | { kind: 'text'; text: string; isOutput: boolean }
  | { kind: 'command'; stdout: string; stderr: string; isCut: boolean };

/** Undefined for a toolset with a form of its own. */
export function outcomeText(
  toolset: Toolset | undefined,
  { tool: name, outcome }: { tool: string; outcome: Exclude<contract.ToolOutcome, { status: 'deferred' }> },
  log: DefectLog,
): OutcomeText | undefined {
  if (!rendersText(toolset)) return undefined;
  const tool = toolset?.tools.find((one) => one.name === name);
  const streams = tool?.render === renderCommand ? readStreams(outcome.value) : undefined;
  if (streams !== undefined) return { kind: 'command', ...streams };
  const { status, value } = outcome;
  const plain = value === undefined ? null : asJson(value);
  const result: contract.Json =
    status === 'succeeded'
      ? plain
      : { status, error: asJson(outcome.error), ...(value === undefined ? {} : { value: plain }) };
  const shown = renderCall(toolset, { tool: name, status, result }, log);
  return shown && { kind: 'text', text: shown.body, isOutput: tool?.onTask !== undefined };
}
