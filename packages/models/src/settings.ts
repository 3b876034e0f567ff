import { z } from 'zod';
import { ModelError } from './errors.ts';

export interface ProviderSettings {
  apiKey?: string | undefined;
  /** A URL without a path gets the provider's usual path (`/v1`, Gemini `/v1beta`); any other URL stays as it is. */
  baseUrl?: string | undefined;
}

export interface ModelSettings {
  /** `provider/model` for runs that name none. */
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
}

/**
 * Reads the models' part of an environment. An empty variable counts as unset.
 * @throws ModelError EMODELSETTINGS naming the variable
 */
export function modelSettingsFrom(env: Record<string, string | undefined>): ModelSettings {
  const parsed = environmentSchema.safeParse(env);
  if (!parsed.success) {
    const variables = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.')))].join(', ');
    throw new ModelError({
      code: 'EMODELSETTINGS',
      message: `${variables} is not an http or https URL.`,
      next: `Correct ${variables} or remove it to use the provider's own address.`,
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
  };
}

const word = z.preprocess(emptyAsUnset, z.string().optional());
const url = z.preprocess(emptyAsUnset, z.url({ protocol: /^https?$/ }).optional());

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
});

function emptyAsUnset(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const trimmed = value.trim();
  return trimmed === '' ? undefined : trimmed;
}
