import { z } from 'zod';
import { renderValue } from './result-text.ts';

/** The words of the person who was asked. */
export const renderAnswer = renderValue(z.object({ answer: z.string() }), ({ answer }) => ({
  head: 'a person answered:',
  body: answer,
}));
