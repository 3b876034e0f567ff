/**
 * What the makers of a family of models ask for in their guides, where the common text does not say it:
 * - Claude: say that the conversation is shortened by itself, or the model ends its work early when its window fills
 *   (https://platform.claude.com/docs/en/build-with-claude/prompt-engineering/claude-4-best-practices).
 * - GPT: say when the work is over and that the model decides by itself until then
 *   (https://cookbook.openai.com/examples/gpt-5/gpt-5_prompting_guide); the outcome before the steps
 *   (https://developers.openai.com/api/docs/guides/prompt-guidance).
 * - Gemini: ask for a plan, for persistence and for a judgement of risks (https://ai.google.dev/gemini-api/docs/agents).
 */
const families: readonly (readonly [name: RegExp, text: string])[] = [
  [
    /\bclaude\b/,
    'When this conversation becomes long, its older turns are shortened by themselves, and you continue from there. So do not end early for want of room: finish the task.',
  ],
  [
    /\b(?:gpt-|o[134]\b|codex)/,
    'The task is over when its goal is reached and checked, not when you know how to reach it. Until then decide by yourself: where the task leaves something open, take the likeliest reading, continue, and say so at the end.',
  ],
  [
    /\bgemini\b/,
    'Before a call think about what it is to show and what it could break; reading is always safe. When a way fails, take another instead of ending. Keep to your plan, and change it when a result speaks against it.',
  ],
];

/** A paragraph for the family of a model; none for a model of another family. */
export const familyText = (model: string): string[] =>
  families.filter(([name]) => name.test(model.toLowerCase())).map(([, text]) => text);
