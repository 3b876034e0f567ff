import type { ToolOutcome } from '@holdpoint/contract';
import type { z } from 'zod';
import type { Tool, ToolContext } from '../tool.ts';

/** A syntax error that a call brought into a file. */
interface Diagnostic {
  path: string;
  line: number;
  column: number;
  message: string;
}

/** A tool whose result has the syntax errors that its changes brought, as `diagnostics`; no field when there are none. */
export const reportingSyntax = <Input extends z.ZodType>(tool: Tool<Input>): Tool<Input> => ({
  ...tool,
  async execute(context, args): Promise<ToolOutcome> {
    const { checkSyntax } = context;
    if (checkSyntax === undefined) return tool.execute(context, args);
    const written = new Map<string, Written>();
    const onWritten = (one: Written) => void written.set(one.path, one);
    const outcome = await tool.execute({ ...context, onWritten }, args);
    if (outcome.status !== 'succeeded') return outcome;
    const diagnostics = await diagnose(checkSyntax, [...written.values()]);
    return diagnostics.length === 0 ? outcome : { ...outcome, value: { ...(outcome.value as object), diagnostics } };
  },
});

type Written = Parameters<NonNullable<ToolContext['onWritten']>>[0];

async function diagnose(
  check: NonNullable<ToolContext['checkSyntax']>,
  written: readonly Written[],
): Promise<Diagnostic[]> {
  const found = await Promise.all(
    written.slice(0, mostFiles).map(async (one) => (await check(one)).map((error) => ({ path: one.path, ...error }))),
  );
  return found.flat().slice(0, mostShown);
}

const mostFiles = 20;
const mostShown = 20;
