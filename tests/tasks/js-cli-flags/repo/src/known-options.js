/** Every option: its type, and its text in the usage. */
export const known = {
  tag: { type: 'text', text: 'only notes with this tag' },
  limit: { type: 'number', text: 'at most N notes' },
  color: { type: 'flag', text: 'colours in the output' },
  help: { type: 'flag', text: 'print the usage' },
};
