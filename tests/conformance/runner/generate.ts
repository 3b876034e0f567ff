import type { Json } from '@holdpoint/contract';
import type { z } from 'zod';
import { generatorSchema } from './case.ts';
import { isObject } from './match.ts';

/** The text of a generator: `repeat`, `count` times. */
export const generate = ({ repeat, count }: z.output<typeof generatorSchema>): string => repeat.repeat(count);

/** Arguments with the text in place of each `{"$gen": {repeat, count}}`. */
export function expandGenerators(value: Json): Json {
  if (Array.isArray(value)) return value.map(expandGenerators);
  if (!isObject(value)) return value;
  if (Object.keys(value).length === 1 && '$gen' in value) return generate(generatorSchema.parse(value.$gen));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, expandGenerators(one as Json)]));
}

/** A name in printf form: `%d`, `%05d`, `%s`. */
export const printf = (form: string, number: number): string =>
  form.replace(/%(?:(0?)(\d*)([dis])|%)/g, (whole, zero: string, width: string) =>
    whole === '%%' ? '%' : String(number).padStart(Number(width || 0), zero === '0' ? '0' : ' '),
  );
