/** An answer without a body. */
export const emptyAnswer = { description: 'Done', content: {} };
