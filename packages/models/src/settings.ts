import { z } from 'zod';
import { defaultAnswerMs, type ModelOverrides } from './describe-model.ts';
import { ModelError } from './errors.ts';
import { overridesFrom } from './overrides-setting.ts';
import { defaultStreamLimits, type StreamLimits } from './stream-fetch.ts';

export interface ProviderSettings {
  apiKey?: string | undefined;
  /** A URL without a path gets the provider's usual path (`/v1`, Gemini `/v1beta`); any other URL is used unchanged. */
  baseUrl?: string | undefined;
}

export interface ModelSettings {
  /** `provider/model` for runs without a model. */
  defaultModel?: string | undefined;
  /** For `openai` and `openai-chat`. @default https://api.openai.com/v1 */
  openai?: ProviderSettings | undefined;
  /** @default https://api.anthropic.com/v1 */
  anthropic?: ProviderSettings | undefined;
  /** @default https://generativelanguage.googleapis.com/v1beta */
  google?: ProviderSettings | undefined;
  /** The base URL is required; the key is not. */
  openaiCompatible?: ProviderSettings | undefined;
  /** Needs no key. @default http://127.0.0.1:11434/v1 */
  ollama?: ProviderSettings | undefined;
  /** How long a streamed answer may keep silent. @default 600 s before its first byte, 300 s between two */
  stream?: StreamLimits | undefined;
  /** How long an answer may take in all, from its request to its last byte. Milliseconds. @default 30 minutes */
  answerMs?: number | undefined;
  /** The operator's facts about models. @default {} */
  known?: ModelOverrides | undefined;
}

/**
 * Reads the models' part of an environment. An empty variable counts as unset.
 * @throws ModelError EMODELSETTINGS naming the variable
 */
export function modelSettingsFrom(env: Record<string, string | undefined>): ModelSettings {
  const parsed = environmentSchema.safeParse(env);
  if (!parsed.success) {
    const variables = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.')))];
    const isUrl = variables.some((name) => name.endsWith('_URL'));
    const names = variables.filter((name) => name.endsWith('_URL') === isUrl).join(', ');
    throw new ModelError({
      code: 'EMODELSETTINGS',
      message: `${names} is not ${isUrl ? 'an http or https URL' : 'a number of milliseconds from 1000 to 86400000'}.`,
      next: `Correct ${names} or remove it to use ${isUrl ? "the provider's own address" : 'the default'}.`,
    });
  }
  const given = parsed.data;
  return {
    defaultModel: given.HOLDPOINT_MODEL,
    openai: { apiKey: given.OPENAI_API_KEY, baseUrl: given.OPENAI_BASE_URL },
    anthropic: { apiKey: given.ANTHROPIC_API_KEY, baseUrl: given.ANTHROPIC_BASE_URL },
    google: { apiKey: given.GOOGLE_GENERATIVE_AI_API_KEY ?? given.GEMINI_API_KEY, baseUrl: given.GOOGLE_BASE_URL },
    openaiCompatible: { apiKey: given.OPENAI_COMPATIBLE_API_KEY, baseUrl: given.OPENAI_COMPATIBLE_BASE_URL },
    ollama: { baseUrl: given.OLLAMA_BASE_URL },
    stream: { startMs: given.HOLDPOINT_MODEL_START_MS, idleMs: given.HOLDPOINT_MODEL_IDLE_MS },
    answerMs: given.HOLDPOINT_MODEL_ANSWER_MS,
    known: overridesFrom(env),
  };
}

const word = z.preprocess(emptyAsUnset, z.string().optional());
const url = z.preprocess(emptyAsUnset, z.url({ protocol: /^https?$/ }).optional());

const wait = (otherwise: number) =>
  z.preprocess(emptyAsUnset, z.coerce.number().int().min(1000).max(86_400_000).default(otherwise));

/** Not strict: an environment also holds the variables of other programs. */
const environmentSchema = z.object({
  HOLDPOINT_MODEL: word,
  OPENAI_API_KEY: word,
  OPENAI_BASE_URL: url,
  ANTHROPIC_API_KEY: word,
  ANTHROPIC_BASE_URL: url,
  GOOGLE_GENERATIVE_AI_API_KEY: word,
  GEMINI_API_KEY: word,
  GOOGLE_BASE_URL: url,
  OPENAI_COMPATIBLE_API_KEY: word,
  OPENAI_COMPATIBLE_BASE_URL: url,
  OLLAMA_BASE_URL: url,
  HOLDPOINT_MODEL_START_MS: wait(defaultStreamLimits.startMs),
  HOLDPOINT_MODEL_IDLE_MS: wait(defaultStreamLimits.idleMs),
  HOLDPOINT_MODEL_ANSWER_MS: wait(defaultAnswerMs),
});

function emptyAsUnset(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const trimmed = value.trim();
  return trimmed === '' ? undefined : trimmed;
}
