import type { Json, ToolOutcome } from '@holdpoint/contract';
import { readStreams, renderCommand } from '../result-text/command-output.ts';
import { asJson, type Toolset } from '../toolset.ts';
import type { DefectLog } from './check-output.ts';
import { renderCall, rendersText } from './render-call.ts';

/** The content of an outcome for a model, before the outcome is recorded. `isCut`: the middle of the output is missing. */
export type OutcomeText =
  | { kind: 'text'; text: string; isOutput: boolean }
  | { kind: 'command'; stdout: string; stderr: string; isCut: boolean };

/** Undefined for a toolset with a form of its own. */
export function outcomeText(
  toolset: Toolset | undefined,
  { tool: name, outcome }: { tool: string; outcome: Exclude<ToolOutcome, { status: 'deferred' }> },
  log: DefectLog,
): OutcomeText | undefined {
  if (!rendersText(toolset)) return undefined;
  const tool = toolset?.tools.find((one) => one.name === name);
  const streams = tool?.render === renderCommand ? readStreams(outcome.value) : undefined;
  if (streams !== undefined) return { kind: 'command', ...streams };
  const { status, value } = outcome;
  const plain = value === undefined ? null : asJson(value);
  const result: Json =
    status === 'succeeded'
      ? plain
      : { status, error: asJson(outcome.error), ...(value === undefined ? {} : { value: plain }) };
  const shown = renderCall(toolset, { tool: name, status, result }, log);
  return shown && { kind: 'text', text: shown.body, isOutput: tool?.onTask !== undefined };
}
