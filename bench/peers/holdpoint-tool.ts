/** A toolset with a single tool: the tool returns its begin in milliseconds since the epoch. */
export const begun = {
  name: 'begun',
  tools: [
    {
      name: 'begun',
      description: 'Says when it began.',
      effect: 'read',
      risk: 'low',
      input: { type: 'object', properties: {}, additionalProperties: false },
      execute: async () => ({ status: 'succeeded', value: { at: performance.timeOrigin + performance.now() } }),
    },
  ],
};
