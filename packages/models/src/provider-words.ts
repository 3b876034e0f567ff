import type { ModelErrorCode } from './errors.ts';

/** Words of a provider for a refusal which its status does not tell from others. */
interface Wording {
  code: ModelErrorCode;
  provider: string;
  /** A name of the error: its code, type, status or reason. */
  name?: string;
  /** Words of its message. They begin with fixed words, so a match takes linear time. */
  says?: RegExp;
  /** Where the words were seen. */
  source: string;
}

/**
 * Refusals by the providers' own words. The length of a request has a file of its own, because its words also name the window
 * (`context-refusal.ts`). A row needs its name and its words, if it has both.
 */
export const wordings: readonly Wording[] = [
  {
    code: 'EMODELQUOTA',
    provider: 'Anthropic: 400 invalid_request_error',
    says: /your credit balance is too low/i,
    source: 'https://github.com/anthropics/claude-quickstarts/issues/229',
  },
  {
    code: 'EMODELQUOTA',
    provider: 'Anthropic: 400 invalid_request_error, at the spend limit of an organisation',
    says: /you have reached your specified API usage limits/i,
    source: 'https://github.com/anthropics/claude-code/issues/38035',
  },
  {
    code: 'EMODELQUOTA',
    provider: 'Anthropic: 402',
    name: 'billing_error',
    source: 'https://docs.claude.com/en/api/errors',
  },
  {
    code: 'EMODELQUOTA',
    provider: 'OpenAI: 429',
    name: 'insufficient_quota',
    source: 'https://platform.openai.com/docs/guides/error-codes/api-errors',
  },
  {
    code: 'EMODELQUOTA',
    provider: 'OpenAI: 429',
    name: 'billing_not_active',
    source: 'https://github.com/BerriAI/litellm/issues/2743',
  },
  {
    code: 'EMODELQUOTA',
    provider: 'OpenAI: 400',
    says: /billing hard limit has been reached/i,
    source: 'https://github.com/bajrangCoder/acode-plugin-chatgpt/issues/19',
  },
  {
    code: 'EMODELQUOTA',
    provider: 'Gemini: 429 RESOURCE_EXHAUSTED, whose other words are a rate limit',
    says: /your prepayment credits are depleted/i,
    source: 'https://github.com/dyad-sh/dyad/issues/3626',
  },
  {
    code: 'EMODELRATELIMIT',
    provider: 'OpenRouter: 402 while requests under way hold the credit; the other 402s have another limit_source',
    name: 'openrouter_in_flight_budget',
    source: 'https://openrouter.ai/docs/api/reference/errors-and-debugging',
  },
  {
    code: 'EMODELQUOTA',
    provider: 'OpenRouter: 402, also as an error inside a stream',
    says: /requires more credits, or fewer max_tokens/i,
    source: 'https://github.com/continuedev/continue/issues/11154',
  },
  {
    code: 'EMODELPOLICY',
    provider: 'OpenAI: 400 invalid_prompt',
    says: /flagged as potentially violating our usage policy/i,
    source: 'https://github.com/openai/codex/issues/7250',
  },
  {
    code: 'EMODELPOLICY',
    provider: 'OpenAI',
    name: 'content_policy_violation',
    source: 'https://platform.openai.com/docs/guides/error-codes/api-errors',
  },
  {
    code: 'EMODELPOLICY',
    provider: 'Azure OpenAI: 400',
    name: 'content_filter',
    source: 'https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter',
  },
  {
    code: 'EMODELPOLICY',
    provider: 'Azure OpenAI: 400, the code of its inner error where a gateway has replaced the outer one',
    name: 'ResponsibleAIPolicyViolation',
    source: 'https://learn.microsoft.com/en-us/answers/questions/5917408',
  },
  {
    code: 'EMODELPOLICY',
    provider: 'OpenRouter: 403',
    says: /requires moderation\b.{0,200}\bflagged/i,
    source: 'https://openrouter.ai/docs/api/reference/errors-and-debugging',
  },
  {
    code: 'EMODELUNAVAILABLE',
    provider: 'Anthropic: 529, also as an event of a stream',
    name: 'overloaded_error',
    source: 'https://docs.claude.com/en/api/errors',
  },
];

const longestWords = 2000;

/** The code of a refusal with words of the table. @param names names of the error */
export function codeByWords(names: readonly string[], message: string): ModelErrorCode | undefined {
  const words = message.slice(0, longestWords);
  return wordings.find(
    ({ name, says }) => (name === undefined || names.includes(name)) && (says === undefined || says.test(words)),
  )?.code;
}
