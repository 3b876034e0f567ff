import { z } from 'zod';
import { renderHits } from '../../result-text/hits.ts';
import { builtInTool } from '../built-in-tool.ts';

const mostHits = 20;

export const recall = builtInTool({
  name: 'recall',
  description: `Searches the earlier turns of this run: your answers, messages of people, and calls with their results, also those that a summary replaced. Finds what has every word of the query, the latest first, at most ${mostHits}.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    query: z
      .string()
      .min(2)
      .max(500)
      .refine((query) => query.trim() !== '', 'has no word')
      .describe('Words that all have to occur, such as a name and a file'),
  }),
  render: renderHits,
  async execute({ past }, { query }) {
    const words = query.split(/\s+/).filter((word) => word !== '');
    const found = await past.search(words, { limit: mostHits });
    return {
      status: 'succeeded',
      value: { hits: found.hits.map((hit) => ({ ...hit })), searched_from: found.searched_from },
    };
  },
});
