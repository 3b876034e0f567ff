import { defineTool } from '@holdpoint/tools/registries';
import { z } from 'zod';

export const shout = defineTool({
  name: 'Shout',
  description: 'Returns the text in capitals.',
  readOnly: true,
  parameters: z.strictObject({ s: z.string() }),
  implementation: ({ s }) => s.toUpperCase(),
});
