import type { Json, Problem } from '@holdpoint/contract';
import type { Tool } from '../tool.ts';
import { asJson } from '../toolset.ts';
import { type DefectLog, outputProblem } from './check-output.ts';

/** The value made from a person's words. When a tool cannot make a value, the words are unchanged. */
export function answerQuestion(
  tool: Tool,
  { args, words }: { args: unknown; words: string },
  where: { toolset: string; log: DefectLog },
): { value: Json } | { error: Problem } {
  const value = answered(tool, { args, words }, where);
  const error = outputProblem(tool, value, where);
  return error === undefined ? { value } : { error };
}

function answered(
  tool: Tool,
  { args, words }: { args: unknown; words: string },
  { toolset, log }: { toolset: string; log: DefectLog },
): Json {
  if (tool.answer === undefined) return { answer: words };
  try {
    return asJson(tool.answer(args, words));
  } catch (err) {
    log.error({ toolset, tool: tool.name, err }, 'a tool could not make a value of an answer');
    return { answer: words };
  }
}
