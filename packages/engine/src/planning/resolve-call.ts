import { asReference, type Json, type Reference, resolvePointer } from '@holdpoint/contract';
import type { PlannedCall, PlannerInput } from '../ports/index.ts';

interface WrittenCall {
  tool: string;
  args: Json;
  name?: string | undefined;
}

/** A call with the value of each reference. A call with an unresolved reference gets an error and settles with this error. */
export async function resolveCall(step: WrittenCall, input: Pick<PlannerInput, 'named'>): Promise<PlannedCall> {
  const call = { tool: step.tool, name: step.name };
  try {
    return { ...call, args: await resolve(step.args, input) };
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    const next = 'Refer to a step that succeeds, and to a place which its result has.';
    return { ...call, args: step.args, error: { code: 'EREFERENCE', message: error.message, next } };
  }
}

class UnresolvedReference extends Error {
  override name = 'UnresolvedReference';
}

/** The value with every reference replaced by the referenced value. */
async function resolve(value: Json, input: Pick<PlannerInput, 'named'>): Promise<Json> {
  const reference = asReference(value);
  if (reference) return follow(reference, input);
  if (Array.isArray(value)) return Promise.all(value.map((item) => resolve(item, input)));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(async ([key, inner]) => [key, await resolve(inner, input)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function follow({ $from, pointer }: Reference, input: Pick<PlannerInput, 'named'>): Promise<Json> {
  const step = await input.named($from);
  if (step?.native === undefined) {
    throw new UnresolvedReference(`The step ${$from} has no result to refer to (${step?.status ?? 'it never ran'}).`);
  }
  const found = resolvePointer(step.native, pointer);
  if (found === undefined) throw new UnresolvedReference(`The result of ${$from} has nothing at ${pointer || '/'}.`);
  return found;
}
