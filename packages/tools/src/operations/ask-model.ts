import type { GenerateRequest, ToolContext } from '../tool.ts';
import { type Failure, failure } from './cut-short.ts';

/** The failure of a call in need of a model, before anything else of the call happens. */
export const noModel = (message: string, next: string): Failure => failure('ENOMODEL', message, next);

/** An answer of the run's model. A refusal of the provider, or a missing answer, is the outcome of the call: the call is not repeated. */
export async function askModel(
  { generate, signal }: Pick<ToolContext, 'generate' | 'signal'>,
  request: GenerateRequest,
): Promise<{ status: 'answered'; text: string } | Failure> {
  if (generate === undefined) return noModel('There is no model for tools.', 'Have the operator set HOLDPOINT_MODEL.');
  try {
    return { status: 'answered', ...(await generate(request)) };
  } catch (error) {
    signal.throwIfAborted();
    const { code = 'EMODELUNKNOWN', message, next } = error as Partial<Record<'code' | 'message' | 'next', string>>;
    return failure(
      code,
      message ?? 'The model gave no answer.',
      next ?? 'Try again later, or do it without the model.',
    );
  }
}
