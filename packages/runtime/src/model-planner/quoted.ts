import { cut, nameText, oneLine } from '@holdpoint/readable';

const longest = 200;

/** A text of strangers on one line, in quotes, without characters that a reader does not see. */
export const quoted = (text: string, most = longest): string => JSON.stringify(cut(oneLine(text), most).toWellFormed());

/** A path or a name in a list. A name with blanks or quotes is quoted, so that it never looks like words of Holdpoint. */
export function listedName(path: string): string {
  const shown = cut(nameText(path), longest).toWellFormed();
  return /^[^\s"'<>`]+$/.test(shown) ? shown : JSON.stringify(shown);
}
