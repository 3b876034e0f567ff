/**
 * Names of providers in OpenTelemetry's GenAI conventions, where Holdpoint's own name differs (`gen_ai.provider.name`, well-known values:
 * github.com/open-telemetry/semantic-conventions-genai). `openai-chat` is another API of the same provider.
 */
const conventional: Readonly<Record<string, string>> = { google: 'gcp.gemini', 'openai-chat': 'openai' };

/**
 * A model as every span and every series names the model, from Holdpoint's `provider/model`: `google/gemini-3` is the model `gemini-3` of
 * `gcp.gemini`. The provider may be empty in a name without a slash.
 */
export function genAiModel(name = ''): { provider: string; model: string } {
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(0, slash));
  return { provider: conventional[provider] ?? provider, model: name.slice(slash + 1) };
}
