import {
  AISDKError,
  APICallError,
  generateText,
  InvalidResponseDataError,
  JSONParseError,
  jsonSchema,
  type ToolSet,
  wrapLanguageModel,
} from 'ai';
import { boundArgsDepth } from './call-args.ts';
import { uniqueCallIds } from './call-ids.ts';
import { toSentMessages } from './conversation.ts';
import { ModelError } from './errors.ts';
import { describeFailure, type Failure } from './failure.ts';
import { parseModelName } from './model-name.ts';
import type { Model, ModelAnswer, ModelRequest } from './port.ts';
import { openProviderModel, type ProviderDeps } from './providers.ts';
import { type AnswerPart, type RawAnswer, readAnswer } from './read-answer.ts';

type Generated = Awaited<ReturnType<typeof generateText>>;

export interface AdapterDeps extends ProviderDeps {
  now: () => number;
}

/** The only module that uses the AI SDK. */
export function createAiSdkModel(deps: AdapterDeps): Model {
  // The SDK prints warnings that contain parts of the conversation. This global is its only switch.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return { generate: (request) => generate(deps, request) };
}

async function generate(deps: AdapterDeps, request: ModelRequest): Promise<ModelAnswer> {
  const { model, options } = openProviderModel(deps, request.model);
  request.signal.throwIfAborted();
  // Without `execute` the SDK stops after the first answer, so it sends one request.
  const tools: ToolSet = Object.fromEntries(
    request.tools.map((tool) => [
      tool.name,
      { description: tool.description, inputSchema: jsonSchema(tool.parameters) },
    ]),
  );
  const result = await generateText({
    model: wrapLanguageModel({ model, middleware: [boundArgsDepth, uniqueCallIds(request.messages)] }),
    instructions: request.system || undefined,
    messages: toSentMessages(request.messages, request.model),
    tools,
    maxRetries: 0,
    maxOutputTokens: request.maxOutputTokens ?? 8192,
    temperature: request.temperature,
    reasoning: request.reasoningEffort,
    abortSignal: request.signal,
    providerOptions: options,
  }).catch((error: unknown) => {
    // The caller aborted, so this is no failure of the model.
    request.signal.throwIfAborted();
    throw toModelError(deps, error, request.model);
  });
  return readAnswer(rawAnswer(request.model, result), request.messages);
}

function rawAnswer(model: string, result: Generated): RawAnswer {
  const { provider } = parseModelName(model);
  const dropped = result.rawFinishReason === 'MALFORMED_FUNCTION_CALL';
  const note = result.providerMetadata?.google?.finishMessage;
  return {
    model,
    parts: result.content.flatMap(answerPart),
    finish: result.finishReason,
    droppedCall: dropped ? String(note ?? 'the provider says no more about it') : undefined,
    argsAsText: provider !== 'anthropic' && provider !== 'google',
    usage: usedBy(result.usage),
    answered: answeredBy(result),
  };
}

function usedBy({ inputTokens, outputTokens, inputTokenDetails, outputTokenDetails }: Generated['usage']) {
  return {
    input_tokens: count(inputTokens) ?? 0,
    output_tokens: count(outputTokens) ?? 0,
    cached_input_tokens: count(inputTokenDetails.cacheReadTokens),
    cache_write_tokens: count(inputTokenDetails.cacheWriteTokens),
    reasoning_tokens: count(outputTokenDetails.reasoningTokens),
  };
}

/** A server may write any number. */
const count = (tokens: number | undefined): number | undefined =>
  tokens === undefined || !Number.isFinite(tokens) ? undefined : Math.min(Math.max(0, Math.round(tokens)), 2 ** 40);

const longestName = 200;

/** The SDK makes up an id where the provider gives none. */
function answeredBy({ response: { modelId, id } }: Generated): RawAnswer['answered'] {
  return { model: modelId.slice(0, longestName), id: id.startsWith('aitxt-') ? undefined : id.slice(0, longestName) };
}

/** Other kinds (sources, files, results of the provider's own tools) need tools that are never offered here. */
function answerPart(part: Generated['content'][number]): AnswerPart[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, metadata: part.providerMetadata }];
    case 'tool-call': {
      const { toolCallId: id, toolName: tool, input, providerMetadata: metadata } = part;
      return [{ type: 'call', id, tool, input, refused: part.invalid === true, metadata }];
    }
    default:
      return [];
  }
}

function toModelError(deps: AdapterDeps, error: unknown, model: string): ModelError {
  if (error instanceof ModelError) return error;
  if (APICallError.isInstance(error)) return describeFailure(deps, readFailure(error), model);
  const message = error instanceof Error ? error.message : String(error);
  if (InvalidResponseDataError.isInstance(error)) {
    return describeFailure(deps, { kind: 'unreadable', status: 200, headers: {}, body: error.data, message }, model);
  }
  // The SDK's other errors are about its input, before any request. They contain the conversation, so they are no cause of this error.
  if (AISDKError.isInstance(error)) {
    const next = 'Check the conversation and the tools: each call needs its result.';
    return new ModelError({ code: 'EMODELREQUEST', message: `${model} was not asked: ${message}`, next });
  }
  const next = 'Read the cause of this error.';
  return new ModelError(
    { code: 'EMODELUNKNOWN', message: `Asking ${model} failed: ${message}`, next },
    { cause: error },
  );
}

function readFailure(error: APICallError): Failure {
  const { statusCode: status, responseHeaders: headers = {}, responseBody: body, message } = error;
  const failure = { status, headers, body, message };
  if (status === undefined) return { ...failure, kind: 'unreachable' };
  // `response.error` of the Responses API: the SDK reports a 200 as 400, with the parsed body.
  if (typeof body !== 'string' && body !== undefined) return { ...failure, kind: 'unreadable' };
  if (status >= 300) return { ...failure, kind: 'refused' };
  return { ...failure, kind: isBroken(error) ? 'broken' : 'unreadable' };
}

/** Whether the connection or the JSON ended early. An HTML page is no answer at all, so it is not broken. */
function isBroken(error: APICallError): boolean {
  const cut = JSONParseError.isInstance(error.cause) && /^\s*(\{|\[|$)/.test(error.responseBody ?? '');
  return cut || error.isRetryable || (error.cause instanceof TypeError && error.cause.message === 'terminated');
}
