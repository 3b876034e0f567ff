import type { ToolOutcome } from '@holdpoint/contract';
import type { z } from 'zod';
import type { Tool, ToolContext } from '../tool.ts';

/** An error that a call brought into a file: of syntax, or else of types. */
interface Diagnostic {
  path: string;
  line: number;
  column: number;
  message: string;
}

/**
 * A tool whose result has the errors that its changes brought, as `diagnostics`; no field when there are none. `more_diagnostics` counts the
 * errors behind the first. The types are checked once the syntax has no error.
 */
export const reportingDiagnostics = <Input extends z.ZodType>(tool: Tool<Input>): Tool<Input> => ({
  ...tool,
  async execute(context, args): Promise<ToolOutcome> {
    if (context.checkSyntax === undefined && context.language === undefined) return tool.execute(context, args);
    const written = new Map<string, Written>();
    const onWritten = (one: Written) => void written.set(one.path, one);
    const outcome = await tool.execute({ ...context, onWritten }, args);
    if (outcome.status !== 'succeeded') return outcome;
    const all = await diagnose(context, [...written.values()]);
    if (all.length === 0) return outcome;
    const diagnostics = all.slice(0, mostShown);
    const more = all.length > mostShown ? { more_diagnostics: all.length - mostShown } : {};
    return { ...outcome, value: { ...(outcome.value as object), diagnostics, ...more } };
  },
});

type Written = Parameters<NonNullable<ToolContext['onWritten']>>[0];

async function diagnose(
  { checkSyntax, language }: ToolContext,
  written: readonly Written[],
): Promise<readonly Diagnostic[]> {
  const ofSyntax = await Promise.all(
    written.map(async (one) => (await (checkSyntax?.(one) ?? [])).map((error) => ({ path: one.path, ...error }))),
  );
  const found = ofSyntax.flat();
  return found.length > 0 ? found : ((await language?.diagnose(written)) ?? []);
}

const mostShown = 20;
