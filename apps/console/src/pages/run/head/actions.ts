import type { Run } from '@holdpoint/contract/wire';

export type Action = 'pause' | 'resume' | 'cancel' | 'retry' | 'undo' | 'fork' | 'say' | 'publish';

interface Field {
  name: string;
  label: string;
  hint?: string;
  kind: 'text' | 'long' | 'check' | 'step';
  isRequired?: boolean;
}

interface Described {
  title: string;
  /** What happens, in a sentence. */
  says: string;
  path: string;
  scope: 'runs:write';
  fields: readonly Field[];
  danger?: boolean;
  body: (given: FormData, run: Pick<Run, 'workspace'>) => unknown;
}

const text = (given: FormData, name: string): string | undefined => {
  const value = String(given.get(name) ?? '').trim();
  return value === '' ? undefined : value;
};
const isOn = (given: FormData, name: string): true | undefined => (given.get(name) === 'on' ? true : undefined);
/** A step is named by its number in the list, or its id. */
const step = (given: FormData, name: string): number | string | undefined => {
  const value = text(given, name);
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : value;
};

const outside: Field = {
  name: 'keep_external_effects',
  label: 'Also steps with effects outside of the workspace',
  hint: 'Those effects stay: nothing outside is taken back.',
  kind: 'check',
};
const version: Field = {
  name: 'accept_new_version',
  label: 'Continue although tools have changed since the run began',
  kind: 'check',
};
const message: Field = { name: 'message', label: 'Reason', kind: 'text' };

/** What a person can do with a run: the words of its dialog, and its request. */
export const actions: Record<Action, Described> = {
  pause: {
    title: 'Pause',
    says: 'Running steps settle, and nothing new starts until the run is resumed.',
    path: '/pause',
    scope: 'runs:write',
    fields: [],
    body: () => undefined,
  },
  resume: {
    title: 'Resume',
    says: 'The run continues where it was. Each limit is granted once more.',
    path: '/resume',
    scope: 'runs:write',
    fields: [version, { name: 'model', label: 'Another model', hint: 'provider/model; empty: the same', kind: 'text' }],
    body: (given) => ({ accept_new_version: isOn(given, 'accept_new_version'), model: text(given, 'model') }),
  },
  cancel: {
    title: 'Cancel',
    says: 'Running steps are killed, and queued ones never start. The files of the run stay.',
    path: '/cancel',
    scope: 'runs:write',
    fields: [message],
    danger: true,
    body: (given) => ({ message: text(given, 'message') }),
  },
  retry: {
    title: 'Retry',
    says: 'Steps from the chosen one on are undone, and run again.',
    path: '/retry',
    scope: 'runs:write',
    fields: [
      {
        name: 'from_step',
        label: 'First step to run again',
        hint: 'Empty: the first one that did not succeed',
        kind: 'step',
      },
      outside,
      version,
    ],
    body: (given) => ({
      from_step: step(given, 'from_step'),
      keep_external_effects: isOn(given, 'keep_external_effects'),
      accept_new_version: isOn(given, 'accept_new_version'),
    }),
  },
  undo: {
    title: 'Undo',
    says: 'The steps after the chosen one are undone, and the files go back with them.',
    path: '/undo',
    scope: 'runs:write',
    fields: [{ name: 'to_step', label: 'Last step to keep', hint: '0: none', kind: 'step', isRequired: true }, outside],
    danger: true,
    body: (given) => ({ to_step: step(given, 'to_step'), keep_external_effects: isOn(given, 'keep_external_effects') }),
  },
  fork: {
    title: 'Fork',
    says: 'A new run continues after the chosen step, with its files and its conversation. This run stays as it is.',
    path: '/fork',
    scope: 'runs:write',
    fields: [
      { name: 'from_step', label: 'Last step to keep', hint: '0: none', kind: 'step', isRequired: true },
      { name: 'title', label: 'Title', hint: 'Empty: the same', kind: 'text' },
    ],
    body: (given) => ({ from_step: step(given, 'from_step'), title: text(given, 'title') }),
  },
  say: {
    title: 'Say',
    says: 'The model reads the message before its next turn.',
    path: '/messages',
    scope: 'runs:write',
    fields: [{ name: 'text', label: 'Message', kind: 'long', isRequired: true }],
    body: (given) => ({ text: String(given.get('text') ?? '') }),
  },
  publish: {
    title: 'Publish',
    says: 'The validators run, and then the reviewed changes go to the source, all or none.',
    path: '/publish',
    scope: 'runs:write',
    fields: [],
    body: (_given, run) => ({ snapshot: run.workspace.snapshot ?? undefined }),
  },
};
