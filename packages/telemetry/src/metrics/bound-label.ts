/** The label for values beyond their bound. */
export const otherLabel = 'other';

/**
 * Keeps a label to few values: the known values, and the first `most` others. Without the bound each name made up by a caller would begin a
 * series, kept until the process ends.
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
