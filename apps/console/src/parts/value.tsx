import { Text } from './text.tsx';

/** A JSON value for a person: texts with their line ends, everything else as JSON. */
export function Value({ value }: { value: unknown }) {
  if (typeof value === 'string') {
    return value === '' ? <span className="muted">empty text</span> : <Text>{value}</Text>;
  }
  if (typeof value === 'object' && value !== null) return <Text>{JSON.stringify(value, null, 2)}</Text>;
  return <Text>{String(value)}</Text>;
}

/** Whether the value needs a frame of its own. */
export const isLongValue = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : typeof value === 'string' && (value.includes('\n') || value.length > 90);
