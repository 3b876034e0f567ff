/** A text for logs. */
export function describeListener(listener: { name: string }, once: boolean): string {
  const name = listener.name === '' ? 'anonymous' : listener.name;
  return once ? `${name} (once)` : name;
}
