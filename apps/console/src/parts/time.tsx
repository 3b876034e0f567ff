import { useNow } from './clock.ts';
import { spanText } from './span-text.ts';

const whole = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

export const wholeTime = (at: string): string => whole.format(new Date(at));

/** A moment as its distance from now, with the date for a pointer and for readers of the page. */
export function Ago({ at }: { at: string }) {
  const now = useNow(1000);
  const distance = now - Date.parse(at);
  const text = distance < 5000 ? 'just now' : `${spanText(distance)} ago`;
  return (
    <time dateTime={at} title={wholeTime(at)} className="numbers">
      {text}
    </time>
  );
}

/** The time left until a deadline. */
export function Until({ at }: { at: string }) {
  const left = Date.parse(at) - useNow(1000);
  return (
    <time dateTime={at} title={wholeTime(at)} className="numbers">
      {left <= 0 ? 'now' : `in ${spanText(left)}`}
    </time>
  );
}
