import type { CreateRun } from '@holdpoint/contract/wire';

/** What a person has typed. */
export interface Draft {
  goal: 'prompt' | 'plan';
  title: string;
  prompt: string;
  model: string;
  plan: string;
  source: 'empty' | 'directory' | 'git';
  path: string;
  hold: string;
  holdPublish: boolean;
  steps: string;
  cost: string;
  validators: string;
  labels: string;
}

export const emptyDraft: Draft = {
  goal: 'prompt',
  title: '',
  prompt: '',
  model: '',
  plan: '',
  source: 'empty',
  path: '',
  hold: '',
  holdPublish: false,
  steps: '',
  cost: '',
  validators: '',
  labels: '',
};

/** The request as typed. The API names mistakes at their fields. */
export function bodyOf(draft: Draft): CreateRun {
  const { goal, source, path } = draft;
  const body = {
    title: given(draft.title),
    ...(goal === 'prompt' ? { prompt: draft.prompt, model: given(draft.model) } : { plan: planOf(draft.plan) }),
    workspace: { source: source === 'empty' ? { type: source } : { type: source, path: path.trim() } },
    policy: {
      rules: listOf(draft.hold).map((tool) => ({ match: { tool }, action: 'hold', name: `hold-${tool}` })),
      publish: draft.holdPublish ? 'hold' : 'allow',
    },
    limits: { max_steps: numberOf(draft.steps), max_cost_usd: numberOf(draft.cost) },
    validators: draft.validators
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((command, index) => ({ name: `validator ${index + 1}`, command })),
    labels: Object.fromEntries(
      listOf(draft.labels).map((pair) => {
        const at = pair.indexOf('=');
        return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
      }),
    ),
  };
  return body as CreateRun;
}

const given = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim());

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Letters in a number field are sent as a text: the API refuses the field. */
function numberOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

/** Only well-formed JSON comes here. */
function planOf(text: string): unknown {
  if (text.trim() === '') return {};
  return JSON.parse(text);
}
