/** A toolset with a single tool without work. */
export const nothing = {
  name: 'nothing',
  tools: [
    {
      name: 'nothing',
      description: 'Does nothing.',
      effect: 'read',
      risk: 'low',
      input: { type: 'object', properties: {}, additionalProperties: false },
      execute: async () => ({ status: 'succeeded', value: {} }),
    },
  ],
};
