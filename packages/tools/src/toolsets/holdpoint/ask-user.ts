import { z } from 'zod';
import { ToolsError } from '../../errors.ts';
import { renderAnswer } from '../../result-text/answer.ts';
import { builtInTool } from '../built-in-tool.ts';

export const askUser = builtInTool({
  name: 'ask_user',
  description: `Asks the person who started this run a question and waits for the answer, which is the result. Use it when the files do not answer the question: a choice of behaviour, a missing requirement. The wait may be long, so ask once and completely; offer options when there are few.`,
  effect: 'read',
  risk: 'low',
  gate: 'input',
  input: z.strictObject({
    question: z.string().trim().min(1).max(4000).describe('The whole question, with everything needed to answer it'),
    options: z
      .array(z.string().trim().min(1).max(500))
      .min(2)
      .max(10)
      .optional()
      .describe('Answers to choose from; the person may also write another'),
  }),
  render: renderAnswer,
  async execute() {
    throw new ToolsError(
      'ENEEDSPERSON',
      'ask_user was executed, but only a person can answer it.',
      'Park the step until it is answered.',
    );
  },
  async preview(_context, { question, options = [] }) {
    return { kind: 'question', question, options };
  },
});
