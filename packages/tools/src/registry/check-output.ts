import type { Problem, ToolOutcome } from '@holdpoint/contract';
import type { Tool } from '../tool.ts';

/** The outcome, without its value when the value contradicts the tool's output schema. */
export function checkOutput(
  { name, output }: Tool,
  outcome: ToolOutcome,
  { toolset, log }: { toolset: string; log: DefectLog },
): ToolOutcome {
  if (outcome.status !== 'succeeded') return outcome;
  const error = outputProblem({ name, output }, outcome.value, { toolset, log });
  if (error === undefined) return outcome;
  const { touched, capabilities } = outcome;
  return { status: 'failed', error, touched, capabilities };
}

/** The contradiction between a value and the output schema. */
export function outputProblem(
  { name, output }: Pick<Tool, 'name' | 'output'>,
  value: unknown,
  { toolset, log }: { toolset: string; log: DefectLog },
): Problem | undefined {
  const mistakes = output && mistakesIn(output, value);
  if (mistakes === undefined) return undefined;
  log.error({ toolset, tool: name, mistakes }, 'a tool returned a value against its output schema');
  return {
    code: 'EBADOUTPUT',
    message: `${name} returned a value against its output schema: ${mistakes}`,
    next: 'This is a defect of the tool, not of the call. What the call changed is kept; look at it, and use another tool.',
  };
}

function mistakesIn(output: NonNullable<Tool['output']>, value: unknown): string | undefined {
  try {
    const parsed = output.safeParse(value);
    if (parsed.success) return undefined;
    const shown = parsed.error.issues.slice(0, mostShown).map(({ path, message }) => `/${path.join('/')}: ${message}`);
    return shown.join('; ').slice(0, mostCharacters);
  } catch (error) {
    return `the schema failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const mostShown = 5;
const mostCharacters = 1000;

/** Where defects of toolsets are reported. pino fits. */
export interface DefectLog {
  error(fields: object, message: string): void;
}

/** Reports each defect of a tool once per process: a list of results has the same defect in every row. */
export function onlyOnce(log: DefectLog): DefectLog {
  const seen = new Set<string>();
  return {
    error(fields, message) {
      const key = JSON.stringify([message, { ...fields, err: undefined }]);
      if (seen.has(key)) return;
      if (seen.size < mostSeen) seen.add(key);
      log.error(fields, message);
    },
  };
}

const mostSeen = 1000;

export const noLog: DefectLog = { error: () => {} };
