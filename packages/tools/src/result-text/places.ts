import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { fileText, pathLine, shownOf } from './shown-text.ts';

const place = z.object({ path: z.string(), line: z.int(), column: z.int(), text: z.string() });
const schema = z.object({ places: z.array(place), total: z.int() });

/** Places below the path of their file, as `line:column text`; the lines of a declaration follow its first. */
export const renderPlaces = renderValue(schema, ({ places, total }) => {
  const byPath = Map.groupBy(places, ({ path }) => path);
  const files = [...byPath].map(([path, found]) => [pathLine(path), ...found.map(placeText)].join('\n'));
  return { head: shownOf(places.length, total, 'place'), body: files.join('\n\n') };
});

const placeText = ({ line, column, text }: z.output<typeof place>): string =>
  `${line}:${column} ${fileText(text)}`.trimEnd();
