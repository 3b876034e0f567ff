import { z } from 'zod';
import { renderHits } from '../../result-text/hits.ts';
import { builtInTool } from '../built-in-tool.ts';

const mostHits = 20;

export const recall = builtInTool({
  name: 'recall',
  description:
    'Searches the earlier turns of this run, also those that a summary replaced: answers, messages of people, calls and results with every word of the query, the latest first.',
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    query: z
      .string()
      .min(2)
      .max(500)
      .refine((query) => query.trim() !== '', 'has no word')
      .describe('Words, such as a name and a file'),
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
