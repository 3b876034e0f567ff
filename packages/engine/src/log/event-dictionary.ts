/**
 * Texts common to most events, in JSON. A log has a control character for each text, and JSON text itself never has control characters. The
 * place in this list is the text's code, so the list only grows. Readers search stored text for types of events, names of tools and
 * references to blobs, so no entry has a part of them.
 */
const dictionary = [
  '"capabilities":{"driver":"bubblewrap","fs":"enforced","net":"enforced","pids":"enforced","memory":"enforced","cpu":"enforced","disk":"',
  '","seccomp":"enforced","uid_drop":"enforced","notes":[',
  '"Disk use of a workspace, including files without a name, is measured ten times a second and at the end, so a command may exceed its limit for a moment. A command that hides its files is charged with all space that the disk loses."',
  '"enforced"',
  '"verdict":{"action":"allow","reason":"',
  '","rule":{"policy":"builtin","digest":"sha256:',
  '","rule":{"policy":"run","digest":"sha256:',
  'nothing outside the staging workspace can change',
  '"effect":"read","risk":"low"',
  '"effect":"workspace","risk":"low"',
  '{"attempt":1,"worker":"',
  '{"attempt":1,"value":{"json":{',
  '},"duration_ms":',
  '{"reason":"',
  '"args":{"json":{',
  '},"policies":"',
  '"steps":["step_',
  '"],"message":"',
  '"index":',
  '"files_changed":',
  '"skipped":',
  '"snapshot":"',
  '"parent":"',
  '"epoch":',
  '"writes":true',
] as const;

const codes = new Map<string, string>(dictionary.map((text, at) => [text, String.fromCharCode(at + 1)]));
// A single expression: a search per entry takes three times as long.
const longestFirst = [...codes.keys()].toSorted((one, other) => other.length - one.length);
const anyText = new RegExp(longestFirst.map(RegExp.escape).join('|'), 'g');
const marks = new RegExp(`[${String.fromCharCode(1)}-${String.fromCharCode(dictionary.length)}]`, 'g');

/** In a longer text the entries of the dictionary are a small part, and looking for them is not. */
const longest = 2000;

/** @param json JSON text: free of control characters */
export function shorten(json: string): string {
  return json.length > longest ? json : json.replace(anyText, (text) => codes.get(text) ?? text);
}

export const lengthen = (text: string): string =>
  text.replace(marks, (mark) => dictionary[mark.charCodeAt(0) - 1] ?? mark);
