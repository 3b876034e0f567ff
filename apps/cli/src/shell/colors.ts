import { styleText } from 'node:util';

const names = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;
type ColorName = (typeof names)[number];
/** Each function colours a text, or returns it unchanged. */
export type Colors = Readonly<Record<ColorName, (text: string) => string>>;

export function colorsFor(enabled: boolean): Colors {
  const paint = (name: ColorName) => (text: string) =>
    enabled ? styleText(name, text, { validateStream: false }) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}
