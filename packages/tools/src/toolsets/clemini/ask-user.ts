import { z } from 'zod';
import { ToolsError } from '../../errors.ts';
import { builtInTool } from '../built-in-tool.ts';

const input = z.strictObject({
  question: z.string().trim().min(1).max(4000).describe('The whole question'),
  options: z
    .array(z.string().trim().min(1).max(500))
    .min(1)
    .max(50)
    .optional()
    .describe('Answers to choose from; the person may give another'),
});

export const askUser = builtInTool({
  name: 'ask_user',
  description: 'Ask the person a question and wait for the answer. Ask rather than guess. Returns: {answer}',
  effect: 'read',
  risk: 'low',
  gate: 'input',
  input,
  output: z.strictObject({ answer: z.string() }),
  answer: ({ options = [] }, words) => ({ answer: chosen(options, words) }),
  async execute() {
    const message = 'ask_user was executed, but only a person can answer it.';
    throw new ToolsError('ENEEDSPERSON', message, 'Park the step until it is answered.');
  },
  async preview(_context, { question, options = [] }) {
    return { kind: 'question', question, options };
  },
});

/** A number picks an option, unless an option has these very words. */
function chosen(options: readonly string[], words: string): string {
  const text = words.trim();
  if (options.includes(text) || !/^[1-9]\d{0,2}$/.test(text)) return words;
  return options[Number(text) - 1] ?? words;
}
