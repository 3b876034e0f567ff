export interface ModelLimits {
  window?: number;
  maxOutput?: number;
  images?: boolean;
}

/**
 * Facts missing in the catalogue of prices, by the beginning of the name; the first matching entry counts. Compared with the list of models in the npm package
 * @earendil-works/pi-ai 0.74.2; where the list and the providers' documentation differ, the smaller number stands. The operator's settings override both.
 */
const limits: readonly (readonly [start: string, limits: ModelLimits])[] = [
  ['openai/gpt-4.1', { window: 1_047_576, maxOutput: 32_768, images: true }],
  ['openai/gpt-4o-2024-05-13', { window: 128_000, maxOutput: 4096, images: true }],
  ['openai/gpt-4o', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/chatgpt-4o', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-4-turbo', { window: 128_000, maxOutput: 4096, images: true }],
  ['openai/gpt-4', { maxOutput: 4096, images: false }],
  ['openai/gpt-3.5', { window: 16_385, maxOutput: 4096, images: false }],
  ['openai/gpt-5-chat', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5.1-chat', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5.2-chat', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5.3-codex-spark', { window: 128_000, maxOutput: 32_000, images: true }],
  ['openai/gpt-5.3-codex', { maxOutput: 128_000, images: true }],
  ['openai/gpt-5.3', { window: 128_000, maxOutput: 16_384, images: true }],
  ['openai/gpt-5', { maxOutput: 128_000, images: true }],
  ['openai/gpt-6', { maxOutput: 128_000, images: true }],
  ['openai/o1-mini', { maxOutput: 65_536, images: false }],
  ['openai/o3-mini', { maxOutput: 100_000, images: false }],
  ['openai/o1', { maxOutput: 100_000, images: true }],
  ['openai/o3', { maxOutput: 100_000, images: true }],
  ['openai/o4', { maxOutput: 100_000, images: true }],
  ['anthropic/claude-opus-4-0', { maxOutput: 32_000, images: true }],
  ['anthropic/claude-opus-4-1', { maxOutput: 32_000, images: true }],
  ['anthropic/claude-opus-4-2', { maxOutput: 32_000, images: true }],
  ['anthropic/claude-opus-4-5', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-sonnet-4', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-haiku-4', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-3-7', { maxOutput: 64_000, images: true }],
  ['anthropic/claude-3-5', { maxOutput: 8192, images: true }],
  ['anthropic/claude-3', { maxOutput: 4096, images: true }],
  ['anthropic/claude-2', { maxOutput: 4096, images: false }],
  ['anthropic/claude-', { maxOutput: 128_000, images: true }],
  ['google/gemini-2.0', { window: 1_048_576, maxOutput: 8192, images: true }],
  ['google/gemini-1', { window: 1_048_576, maxOutput: 8192, images: true }],
  ['google/gemini-', { window: 1_048_576, maxOutput: 65_536, images: true }],
];

/** @param name `provider/model` */
export const limitsOf = (name: string): ModelLimits | undefined =>
  limits.find(([start]) => name.startsWith(start))?.[1];
