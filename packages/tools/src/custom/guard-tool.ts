import type { Problem, ToolOutcome } from '@holdpoint/contract';
import { FileError, outsideQuestionSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { ToolsError } from '../errors.ts';
import { networkFailure } from '../operations/web.ts';
import { TextWorkError } from '../text-work/text-work.ts';
import type { Tool, ToolContext } from '../tool.ts';

/**
 * A tool of a module. Its mistakes become results: an error thrown by its code, and an invalid outcome. Only an error of the context, such
 * as a lost sandbox, stays an infrastructure error, for a retry by the queue.
 */
export function guardTool(tool: Tool): Tool {
  return {
    ...tool,
    async execute(context, args) {
      const infrastructure = new WeakSet<object>();
      try {
        return checkOutcome(tool.name, await tool.execute(watched(context, infrastructure), args));
      } catch (error) {
        if (context.signal.aborted || isTyped(error) || causedBy(error, infrastructure)) throw error;
        const refused = networkFailure(error);
        if (refused) return refused;
        return { status: 'failed', error: thrown(tool.name, error) };
      }
    },
  };
}

/** The context with a note of every error thrown by its parts. */
function watched(context: ToolContext, thrown: WeakSet<object>): ToolContext {
  const rethrow = (error: unknown): never => {
    if (typeof error === 'object' && error !== null && !isTyped(error) && !networkFailure(error)) thrown.add(error);
    throw error;
  };
  const note =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      call(...args).catch(rethrow);
  const noteAll = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const result: unknown = Reflect.apply(value, target, args);
          return result instanceof Promise ? note(() => result)() : result;
        };
      },
    });
  const { converse, converseKept } = context;
  return {
    ...context,
    files: noteAll(context.files),
    run: note((request) => context.run(request)),
    converse: converse && ((request, talk) => converse(request, talk).catch(rethrow)),
    converseKept: converseKept && ((request, talk) => converseKept(request, talk).catch(rethrow)),
    text: noteAll(context.text),
    tasks: noteAll(context.tasks),
    past: noteAll(context.past),
    network: context.network && noteAll(context.network),
  };
}

function causedBy(error: unknown, infrastructure: WeakSet<object>): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 20; one = one.cause, depth++) {
    if (infrastructure.has(one)) return true;
  }
  return false;
}

/** Errors turned into results by the registry. */
const isTyped = (error: unknown): boolean =>
  error instanceof FileError || error instanceof TextWorkError || error instanceof ToolsError;

const problem = z.strictObject({ code: z.string().min(1), message: z.string(), next: z.string().optional() });
const shared = {
  touched: z.array(z.string()).optional(),
  capabilities: z.unknown().optional(),
  contents: z.array(z.instanceof(Buffer)).max(20).optional(),
};
const askedSchema = z.strictObject({ question: outsideQuestionSchema, state: z.string().optional() });
const outcomeSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('succeeded'), value: z.json(), task: z.unknown().optional(), ...shared }),
  z
    .strictObject({
      status: z.literal('deferred'),
      until: z.number().optional(),
      on: z.unknown(),
      touched: shared.touched,
    })
    .refine(({ until, on }) => until !== undefined || askedSchema.safeParse(on).success, {
      path: ['until'],
      error: 'expected a number, or a question in on',
    }),
  ...(['failed', 'timed_out', 'killed'] as const).map((status) =>
    z.strictObject({ status: z.literal(status), error: problem, value: z.json().optional(), ...shared }),
  ),
]);

function checkOutcome(tool: string, outcome: ToolOutcome): ToolOutcome {
  const parsed = outcomeSchema.safeParse(outcome);
  if (parsed.success) return outcome;
  const issues = parsed.error.issues.slice(0, 5).map(({ path, message }) => `${path.join('/') || 'it'}: ${message}`);
  return {
    status: 'failed',
    error: {
      code: 'EBADOUTPUT',
      message: `${tool} did not return an outcome: ${issues.join('; ')}.`,
      next: 'This is a defect of the tool; its author returns {status: "succeeded", value} or {status: "failed", error}.',
    },
  };
}

function thrown(tool: string, error: unknown): Problem {
  return {
    code: 'ETOOLFAILED',
    message: `${tool} failed: ${error instanceof Error ? error.message : String(error)}`,
    next: 'This is a defect of the tool or of its arguments; read the message.',
  };
}
