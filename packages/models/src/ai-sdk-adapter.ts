import * as ai from 'ai';
import { sentPrompt } from './conversation.ts';
import { CutUsage } from './cut-usage.ts';
import { defaultAnswerMs, describeModel, limitAnswer, type ModelFacts, sightOf } from './describe-model.ts';
import { ModelError } from './errors.ts';
import { describeFailure, type Failure } from './failure.ts';
import { foldStream } from './fold-stream.ts';
import { type FreeTexts, freeTextsOf, sdkTool } from './free-text.ts';
import { parseModelName } from './model-name.ts';
import type { Model, ModelAnswer, ModelDelta, ModelRequest, ReasoningEffort } from './port.ts';
import { openProviderModel, type ProviderDeps } from './providers.ts';
import { type AnswerPart, boundArgsDepth, type RawAnswer, readAnswer, uniqueCallIds } from './read-answer.ts';
import { readStreamFailure } from './stream-failure.ts';
import { defaultStreamLimits, streamFetch, WholeAnswer } from './stream-fetch.ts';

/**
 * Asks for a stream and gives the same answer as a request without a stream. This middleware runs below all other readers of answers, so
 * ids, arguments and errors are treated in the same way. The answer of a server without streams is read whole.
 */
const streamed = (onDelta: (delta: ModelDelta) => void, used: CutUsage): ai.LanguageModelMiddleware => ({
  specificationVersion: 'v4',
  // The raw events have the ids written by the provider.
  transformParams: async ({ params }) => ({ ...params, includeRawChunks: true }),
  async wrapGenerate({ doGenerate, doStream }) {
    try {
      const { stream, request, response } = await doStream();
      const { answered, body, ...folded } = await foldStream(stream, onDelta, used);
      return { ...folded, request, response: { ...response, ...answered, body } };
    } catch (error) {
      if (error instanceof WholeAnswer) return doGenerate();
      throw error;
    }
  },
});

type Generated = Awaited<ReturnType<typeof ai.generateText>>;

export interface AdapterDeps extends ProviderDeps {
  now: () => number;
}

/** The only module with the AI SDK. */
export function createAiSdkModel(deps: AdapterDeps): Model {
  // The SDK prints warnings with parts of the conversation. This global is its only switch.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return { generate: (request) => generate(deps, request) };
}

async function generate(deps: AdapterDeps, request: ModelRequest): Promise<ModelAnswer> {
  const { onDelta } = request;
  const limits = deps.settings.stream ?? defaultStreamLimits;
  const fetch = onDelta === undefined ? deps.fetch : streamFetch({ fetch: deps.fetch, limits, model: request.model });
  const isCached = request.cache ?? true;
  const { cacheKey } = request;
  const { model, options } = openProviderModel({ ...deps, fetch }, request.model, { isCached, cacheKey });
  const facts = describeModel(request.model, deps.settings.known ?? {});
  request.signal.throwIfAborted();
  // Without `execute` the SDK stops after the first answer: a single request.
  const texts = freeTextsOf(request);
  const tools: ai.ToolSet = Object.fromEntries(request.tools.map((tool) => [tool.name, sdkTool(tool, texts)]));
  const prompt = sentPrompt(request, { isCached, sight: sightOf(facts), texts });
  const used = new CutUsage();
  const middleware = [boundArgsDepth, uniqueCallIds(request.messages), ...(onDelta ? [streamed(onDelta, used)] : [])];
  using limit = limitAnswer(request.model, deps.settings.answerMs ?? defaultAnswerMs);
  const result = await ai
    .generateText({
      model: ai.wrapLanguageModel({ model, middleware: [withPrompt(prompt), ...middleware] }),
      prompt: 'replaced below',
      tools,
      maxRetries: 0,
      maxOutputTokens: outputLimit(request, facts),
      temperature: request.temperature,
      reasoning: effortOf(request),
      abortSignal: AbortSignal.any([request.signal, limit.signal]),
      providerOptions: options,
    })
    .catch((error: unknown) => {
      const cut = request.onCut && used.of(request);
      if (cut !== undefined) request.onCut?.(cut);
      // The caller aborted, so this is no failure of the model.
      request.signal.throwIfAborted();
      limit.signal.throwIfAborted();
      throw toModelError(deps, error, request.model);
    });
  return readAnswer(rawAnswer(request.model, result, texts), request.messages);
}

/** An answer of the default length leaves most of the window to the conversation. */
const defaultShare = 8;
const leastDefault = 8192;

function outputLimit({ maxOutputTokens }: ModelRequest, { maxOutput = Infinity, window = 0 }: ModelFacts): number {
  const share = Math.max(leastDefault, Math.floor(window / defaultShare));
  return Math.min(maxOutputTokens ?? share, maxOutput);
}

/** The SDK finds the nearest effort for its known models; other servers know no more than `high`. */
function effortOf({ model, reasoningEffort }: ModelRequest): ReasoningEffort | undefined {
  const { provider } = parseModelName(model);
  const isImitation = provider === 'openai-compatible' || provider === 'ollama';
  return isImitation && reasoningEffort === 'max' ? 'high' : reasoningEffort;
}

/** The SDK validates and converts each message of its own prompt three times over: most of the time of a long request. */
const withPrompt = (prompt: ReturnType<typeof sentPrompt>): ai.LanguageModelMiddleware => ({
  specificationVersion: 'v4',
  transformParams: async ({ params }) => ({ ...params, prompt }),
});

function rawAnswer(model: string, result: Generated, texts: FreeTexts): RawAnswer {
  const { provider } = parseModelName(model);
  const dropped = result.rawFinishReason === 'MALFORMED_FUNCTION_CALL';
  const note = result.providerMetadata?.google?.finishMessage;
  return {
    model,
    parts: result.content.flatMap((part) => answerPart(part, texts)),
    finish: result.finishReason,
    droppedCall: dropped ? String(note ?? 'the provider says no more about it') : undefined,
    argsAsText: provider !== 'anthropic' && provider !== 'google',
    usage: usedBy(result.usage),
    metadata: messageMetadata(result),
    answered: answeredBy(result),
  };
}

/** Blocks of reasoning belong to the message, not to a part of it. */
function messageMetadata({ providerMetadata }: Generated): unknown {
  const { reasoning_details } = providerMetadata?.openaiCompatible ?? {};
  return reasoning_details && { openaiCompatible: { reasoning_details } };
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

/** Other kinds (sources, files, results of the provider's own tools) need tools never offered by Holdpoint. */
function answerPart(part: Generated['content'][number], texts: FreeTexts): AnswerPart[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, metadata: part.providerMetadata }];
    case 'tool-call': {
      const { toolCallId: id, toolName: tool, input, providerMetadata: metadata } = part;
      const argument = texts.get(tool);
      const call = { type: 'call' as const, id, tool, refused: part.invalid === true, metadata };
      if (argument === undefined || typeof input !== 'string') return [{ ...call, input }];
      return [{ ...call, input: { [argument]: input }, refused: false, isText: true }];
    }
    default:
      return [];
  }
}

function toModelError(deps: AdapterDeps, error: unknown, model: string): ModelError {
  const own = modelErrorIn(error);
  if (own !== undefined) return own;
  if (ai.APICallError.isInstance(error)) return describeFailure(deps, readFailure(error), model);
  const broken = readStreamFailure(error);
  if (broken !== undefined) return describeFailure(deps, broken, model);
  const message = error instanceof Error ? error.message : String(error);
  if (ai.InvalidResponseDataError.isInstance(error)) {
    return describeFailure(deps, { kind: 'unreadable', status: 200, headers: {}, body: error.data, message }, model);
  }
  // The SDK's other errors are about its input, before any request. They contain the conversation, so they are no cause of this error.
  if (ai.AISDKError.isInstance(error)) {
    const next = 'Check the conversation and the tools: each call needs its result.';
    return new ModelError({ code: 'EMODELREQUEST', message: `${model} was not asked: ${message}`, next });
  }
  const next = 'Read the cause of this error.';
  return new ModelError(
    { code: 'EMODELUNKNOWN', message: `Asking ${model} failed: ${message}`, next },
    { cause: error },
  );
}

/** Finds the model error wrapped by the SDK when an error ends the body of an answer. */
function modelErrorIn(error: unknown): ModelError | undefined {
  let at = error;
  for (let depth = 0; depth < 10 && at instanceof Error; depth++) {
    if (at instanceof ModelError) return at;
    at = at.cause;
  }
  return undefined;
}

function readFailure(error: ai.APICallError): Failure {
  const { statusCode: status, responseHeaders: headers = {}, responseBody: body, message } = error;
  const failure = { status, headers, body, message };
  if (status === undefined) return { ...failure, kind: 'unreachable' };
  // `response.error` of the Responses API: the SDK reports a 200 as 400, with the parsed body.
  if (typeof body !== 'string' && body !== undefined) return { ...failure, kind: 'unreadable' };
  if (status >= 300) return { ...failure, kind: 'refused' };
  return { ...failure, kind: isBroken(error) ? 'broken' : 'unreadable' };
}

/** Whether the connection or the JSON ended early. An HTML page is no answer at all, so the page is not broken. */
function isBroken(error: ai.APICallError): boolean {
  const cut = ai.JSONParseError.isInstance(error.cause) && /^\s*(\{|\[|$)/.test(error.responseBody ?? '');
  return cut || error.isRetryable || (error.cause instanceof TypeError && error.cause.message === 'terminated');
}
