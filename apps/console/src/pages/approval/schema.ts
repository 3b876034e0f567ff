import type { Tool } from '@holdpoint/contract/wire';

export interface Property {
  type?: unknown;
  description?: string;
  enum?: readonly unknown[];
  default?: unknown;
}

/** The arguments that the JSON Schema of a tool names. */
export function propertiesOf(tool: Tool | undefined): Record<string, Property> {
  const properties = tool?.input_schema.properties;
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties)
    ? (properties as Record<string, Property>)
    : {};
}

const flat = ['string', 'integer', 'number', 'boolean'] as const;
export type Flat = (typeof flat)[number];

/** The type of a field for the argument; undefined: it takes JSON. */
export const flatType = ({ type }: Property): Flat | undefined => flat.find((each) => each === type);

/** Whether each argument has a field of its own: the schema names all, and none holds others. */
export const isFlat = (tool: Tool | undefined, args: unknown): args is Record<string, unknown> => {
  const properties = propertiesOf(tool);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return false;
  const all = Object.values(properties);
  return (
    all.length > 0 &&
    all.every((property) => flatType(property) !== undefined) &&
    Object.keys(args).every((name) => Object.hasOwn(properties, name))
  );
};

/**
 * The value of a field. Letters in a number field stay a text: the API refuses the argument at its field.
 * @returns undefined for a field that is empty: the argument is left out
 */
export function fieldValue(text: string, type: Flat): unknown {
  if (type === 'string') return text;
  if (text.trim() === '') return undefined;
  if (type === 'boolean') return text === 'true';
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}
