import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { counted } from './shown-text.ts';

const counts = z.object({ pending: z.int(), in_progress: z.int(), completed: z.int(), total: z.int() });

/** The counts alone: the model wrote the list itself. */
export const renderTodos = renderValue(z.object({ counts }), ({ counts: { total, ...by } }) => ({
  head: `recorded ${counted(total, 'todo')}: ${by.completed} completed, ${by.in_progress} in progress, ${by.pending} pending`,
  body: '',
}));
