/** What labels show for values beyond their bound. */
export const otherLabel = 'other';

/**
 * Keeps a label to few values: those that are known, and the first `most` others. Names that callers make up would otherwise each begin a
 * series that is kept until the process ends.
 */
export function boundLabel({ known = [], most = 0 }: { known?: Iterable<string>; most?: number }) {
  const values = new Set(known);
  const full = values.size + most;
  return (value: string): string => {
    if (values.has(value)) return value;
    if (values.size >= full || !isLabel(value)) return otherLabel;
    values.add(value);
    return value;
  };
}

/** Control characters and long texts are no names. */
const isLabel = (value: string): boolean => /^[\x21-\x7e]{1,80}$/.test(value);
