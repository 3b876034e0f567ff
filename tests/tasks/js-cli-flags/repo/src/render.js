const bold = (text) => `\u001b[1m${text}\u001b[0m`;

export function render(notes, { color }) {
  return notes.map(({ title, tags = [] }) => `${color ? bold(title) : title} [${tags.join(', ')}]\n`).join('');
}
