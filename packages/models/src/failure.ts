import { readContextRefusal } from './context-refusal.ts';
import { ModelError, type ModelErrorCode, unusableNext } from './errors.ts';
import { codeByWords } from './provider-words.ts';
import { type Problem, readProblem, readRetryAfter } from './read-problem.ts';
import type { ModelSettings } from './settings.ts';

/** A failed request, without types of a library. */
export interface Failure {
  /**
   * `unreachable`: no answer. `refused`: an error answer. `broken`: an incomplete body. `unreadable`: a complete body without an answer.
   * `failed`: a stream with an error event.
   */
  kind: 'unreachable' | 'refused' | 'broken' | 'unreadable' | 'failed';
  status?: number | undefined;
  headers: Record<string, string>;
  /** The body as text, or already parsed. */
  body: unknown;
  message: string;
}

/** The error for a failed request. */
export function describeFailure(
  deps: { now: () => number; settings: ModelSettings },
  failure: Failure,
  model: string,
): ModelError {
  const problem = readProblem(failure.body);
  const status = statusOf(failure, problem);
  const { words: names, window } = problem;
  const refusal = { status, words: names, message: problem.message ?? textOf(failure.body), window };
  const tooLong = failure.kind === 'unreachable' ? null : readContextRefusal(refusal);
  const code = tooLong === null ? codeOf(failure, problem, status) : 'EMODELCONTEXT';
  const words = hideKeys(deps.settings, problem.message ?? failure.message).slice(0, 500);
  const retryAfterMs = readRetryAfter(deps, { headers: failure.headers, details: problem.details });
  return new ModelError({
    code,
    message: messageOf(code, model, status, words),
    next: nextSteps[code],
    status,
    retryAfterMs,
    window: tooLong?.window,
  });
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : '');

function codeOf(failure: Failure, problem: Problem, status: number | undefined): ModelErrorCode {
  if (failure.kind === 'unreachable') return 'EMODELUNAVAILABLE';
  // A body that is no error may be half an answer, whose text says anything.
  const said = problem.message ?? (failure.kind === 'refused' ? textOf(failure.body) : '');
  const byWords = codeByWords(problem.words, said);
  if (byWords !== undefined) return byWords;
  if (status === undefined) return 'EMODELUNKNOWN';
  if (status < 300) return failure.kind === 'unreadable' ? 'EMODELANSWER' : 'EMODELCUTOFF';
  if (status === 402) return 'EMODELQUOTA';
  if (status === 429) return 'EMODELRATELIMIT';
  // Gemini reports a wrong key with 400.
  if (status === 401 || status === 403 || problem.words.includes('API_KEY_INVALID')) return 'EMODELAUTH';
  if (status === 408 || status === 409 || status === 425) return 'EMODELUNAVAILABLE';
  if (status >= 500 && status !== 501) return 'EMODELUNAVAILABLE';
  return 'EMODELREQUEST';
}

/** Some errors arrive inside a 200 (proxies, OpenAI's `response.error`). The name of the error then decides the status. */
const statusOfWord: Readonly<Record<string, number>> = {
  context_length_exceeded: 400,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  RESOURCE_EXHAUSTED: 429,
  server_error: 500,
  api_error: 500,
  timeout_error: 504,
  DEADLINE_EXCEEDED: 504,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  overloaded_error: 529,
  invalid_request_error: 400,
  invalid_prompt: 400,
  authentication_error: 401,
  permission_error: 403,
};

function statusOf(failure: Failure, problem: Problem): number | undefined {
  if (failure.kind !== 'unreadable' && failure.kind !== 'failed') return failure.status;
  const byWord = problem.words.map((word) => statusOfWord[word]).find((status) => status !== undefined);
  return byWord ?? problem.status ?? failure.status;
}

function messageOf(code: ModelErrorCode, model: string, status: number | undefined, words: string): string {
  const said = words === '' ? '' : `: ${words}`;
  if (code === 'EMODELCUTOFF') return `The answer of ${model} was cut off before it was complete${said}`;
  return status === undefined ? `${model} could not be asked${said}` : `${model} answered ${status}${said}`;
}

const nextSteps: Readonly<Record<ModelErrorCode, string>> = {
  EMODELNAME: 'Name a known model.',
  EMODELSETTINGS: 'Complete the settings of the provider.',
  EMODELRATELIMIT: 'Ask again after the time that the provider names, or slow down.',
  EMODELUNAVAILABLE: 'Ask again later; if it stays so, check the base URL and the provider.',
  EMODELCUTOFF: 'Ask again; no part of the answer was used.',
  EMODELAUTH: 'Check the API key and its permissions.',
  EMODELQUOTA: 'Add credit to the account, or use another key.',
  EMODELPOLICY: 'Say the task in other words, or use another model: add one to the fallbacks of the run.',
  EMODELCONTEXT: 'Shorten the conversation, or use a model with a larger window.',
  EMODELREQUEST:
    'Compare the model name, the base URL, the tools and the length of the conversation with the message of the provider.',
  EMODELANSWER: 'Check that the base URL leads to the API of this provider.',
  EMODELUNUSABLE: unusableNext,
  EMODELUNKNOWN: 'Read the cause in the log of the worker.',
};

/** Removes keys from a provider's error: some errors repeat a refused key, and keys must not reach a log. */
function hideKeys(settings: ModelSettings, text: string): string {
  const { openai, anthropic, google, openaiCompatible } = settings;
  return [openai, anthropic, google, openaiCompatible].reduce(
    // A short key for a local server is no secret, and its letters may be part of other words.
    (hidden, of) => (of?.apiKey && of.apiKey.length >= 8 ? hidden.replaceAll(of.apiKey, '[key]') : hidden),
    text,
  );
}
