import type { StepDetail } from '@holdpoint/contract/wire';
import { OutputView } from '../../../output/output-view.tsx';
import { LongText } from '../../../parts/reading.tsx';
import { Text } from '../../../parts/text.tsx';

type Json = StepDetail['args'];

/** Texts with line ends, or longer than this, have a view of their own. */
const longText = 160;
const deepest = 4;
/** Longer JSON is in a view that paints its visible rows alone. */
const longJson = 20_000;

/** Arguments or a result: short values as JSON, long texts each in a view with search and copy. */
export function Value({ value, name }: { value: Json; name: string }) {
  const texts: { path: string; text: string }[] = [];
  const rest = withoutTexts(value, name, 0, texts);
  const json = JSON.stringify(rest, null, 2);
  const isOnlyTexts = typeof rest === 'string' && texts.length > 0;
  return (
    <div className="stack">
      {!isOnlyTexts && json.length <= longJson && (
        <LongText label={name} counts={false}>
          <pre>
            <Text>{json}</Text>
          </pre>
        </LongText>
      )}
      {!isOnlyTexts && json.length > longJson && <OutputView name={name} text={json} />}
      {texts.map(({ path, text }) => (
        <div key={path} className="value-text">
          <p className="small muted mono">
            <Text>{path}</Text>
          </p>
          {isShort(text) ? (
            <LongText label={path} counts={false}>
              <pre>
                <Text>{text}</Text>
              </pre>
            </LongText>
          ) : (
            <OutputView name={path} text={text} />
          )}
        </div>
      ))}
    </div>
  );
}

/** A command, not an output: its lines wrap. */
const isShort = (text: string): boolean =>
  text.length <= 2000 && !text.includes('\u001b') && text.split('\n').length <= 20;

/** The value with long texts taken out, each into `texts`. */
function withoutTexts(value: Json, path: string, depth: number, texts: { path: string; text: string }[]): Json {
  if (typeof value === 'string' && (value.length > longText || value.includes('\n'))) {
    texts.push({ path, text: value });
    return `(${value.length.toLocaleString('en')} characters, below)`;
  }
  if (typeof value !== 'object' || value === null || depth >= deepest) return value;
  if (Array.isArray(value)) {
    // Lists of many texts, such as the lines of a search, stay together.
    return value.length > 20 ? value : value.map((item, at) => withoutTexts(item, `${path}[${at}]`, depth + 1, texts));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutTexts(item as Json, key, depth + 1, texts)]),
  );
}
