import { expect, it } from 'vitest';
import { commandName } from './shell/index.ts';
import { adviceText, mistakeText } from './words-for-people.ts';

it.each([
  [
    "List the run's steps with GET /v1/runs/{id}/steps.",
    `List the run's steps with \`${commandName} runs steps <run>\`.`,
  ],
  ['Correct what `errors` names and send the request again; nothing was changed.', 'Nothing was changed.'],
  [
    'Correct what `errors` names; GET /v1/toolsets/{name} shows the settings of a toolset.',
    `\`${commandName} tools list --toolset <name>\` shows the settings of a toolset.`,
  ],
  [
    'Read the whole with GET /v1/approvals/{id}/content, and send its content_digest with the decision.',
    `Read the whole with \`${commandName} approvals content <approval>\`, and pass its digest with --content.`,
  ],
  [
    'List the policies with GET /v1/policies, and the versions of one with GET /v1/policies/{name}/versions.',
    `List the policies with \`${commandName} policy list\`, and the versions of one with \`${commandName} policy history <name>\`.`,
  ],
  ['Read `conflicts`, bring the source to a state that fits.', 'Bring the source to a state that fits.'],
  ['Submit it with the host in `prepare.network.allow`.', 'Submit it with the host in --set prepare.network.allow.'],
  ['Run `holdpoint migrate --yes` again: it continues.', `Run \`${commandName} migrate --yes\` again: it continues.`],
])('names no request: %s', (advice, shown) => expect(adviceText(advice)).toBe(shown));

it.each([
  ['Invalid input: expected nonoptional, received undefined', 'this is missing'],
  ['Invalid input: expected string, received number', 'expected a text, not a number'],
  ['Too small: expected array to have >=1 items', 'a list with at least 1 items'],
  ['Too big: expected number to be <=2', 'expected a number of at most 2'],
  ['Invalid input', 'this is not valid here'],
  ['there is no tool bsh', 'there is no tool bsh'],
])('says plainly: %s', (found, shown) => expect(mistakeText(found)).toBe(shown));
