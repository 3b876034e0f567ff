import { genAiModel } from '@holdpoint/contract/names';

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

/** The labels of a model on every series. Provider and model share a bound. @param known `provider/model`, as the operator names models */
export function boundModel({ known, most }: { known: Iterable<string>; most: number }) {
  const keyOf = ({ provider, model }: { provider: string; model: string }): string => `${provider}/${model}`;
  const bound = boundLabel({ known: [...known].map((name) => keyOf(genAiModel(name))), most });
  return (named: { provider: string; model: string } | undefined) => {
    const isKept = named !== undefined && bound(keyOf(named)) !== otherLabel;
    const { provider, model } = isKept ? named : { provider: otherLabel, model: otherLabel };
    return { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model };
  };
}
