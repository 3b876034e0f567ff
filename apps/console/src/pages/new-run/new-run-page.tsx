import type { CreateRun, PointerError } from '@holdpoint/contract/wire';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { ApiProblem } from '../../api/request.ts';
import { createRun } from '../../api/runs.ts';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/choices.tsx';
import { parseJson } from '../../parts/json-text.ts';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { useWhyNot } from '../../session/session.tsx';
import { bodyOf, type Draft, emptyDraft } from './draft.ts';

export const LimitsFields = ({ field }: { field: FieldOf }) => (
  <>
    <Field label="Most steps" {...field('steps', '/limits/max_steps')} />
    <Field label="Most cost in US dollars" {...field('cost', '/limits/max_cost_usd')} />
    <Field
      label="Validators"
      rows={3}
      code
      hint="One command a line. All must pass on exactly the files that are published"
      {...field('validators', '/validators')}
    />
    <Field label="Labels" hint="name=value, separated by commas" {...field('labels', '/labels')} />
  </>
);

/** Submits a run: its goal, its source, its policy and its limits. The API's mistakes stand at their fields. */
export function NewRunPage() {
  useTitle('New run');
  const [, go] = useLocation();
  const whyNot = useWhyNot('runs:write');
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const sending = useRef<{ key: string; text: string } | undefined>(undefined);
  const isBusy = useRef(false);
  const errors = error instanceof ApiProblem ? error.errors : [];
  const badJson = jsonMistakes(draft);
  const set =
    <Name extends keyof Draft>(name: Name) =>
    (value: Draft[Name]) => {
      setDraft((before) => ({ ...before, [name]: value }));
    };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy.current || whyNot !== undefined || Object.keys(badJson).length > 0) return;
    const body = bodyOf(draft);
    isBusy.current = true;
    setSending(true);
    setError(undefined);
    try {
      const run = await createRun(body, keyFor(body));
      go(`/runs/${run.id}`);
    } catch (refused) {
      setError(refused);
    } finally {
      isBusy.current = false;
      setSending(false);
    }
  };
  /** The same request keeps its key, so a second try after a lost answer makes no second run. */
  function keyFor(body: CreateRun): string {
    const text = JSON.stringify(body);
    if (sending.current?.text !== text) sending.current = { key: crypto.randomUUID(), text };
    return sending.current.key;
  }
  const field: FieldOf = (name, pointer) => ({
    value: draft[name],
    onChange: set(name),
    errors: errorsAt(errors, pointer),
  });
  return (
    <form className="page narrow new-run" onSubmit={submit} noValidate>
      <h1>New run</h1>
      <Section title="Goal">
        <Choices
          label="What gives the calls"
          value={draft.goal}
          options={[
            ['prompt', 'A prompt for a model'],
            ['plan', 'A plan of calls'],
          ]}
          onChoose={set('goal')}
        />
        <Field label="Title" hint="May be empty" {...field('title', '/title')} />
        {draft.goal === 'prompt' ? (
          <>
            <Field label="Prompt" rows={6} {...field('prompt', '/prompt')} />
            <Field
              label="Model"
              hint="provider/model. Empty: the default of this installation"
              {...field('model', '/model')}
            />
          </>
        ) : (
          <Field
            label="Plan"
            code
            rows={12}
            hint='JSON: {"groups": [{"steps": [{"tool": "bash", "args": {"command": "ls"}}]}]}'
            malformed={badJson.plan}
            {...field('plan', '/plan')}
          />
        )}
      </Section>
      <Section title="Source">
        <Choices
          label="What the workspace begins with"
          value={draft.source}
          options={[
            ['empty', 'Nothing'],
            ['directory', 'A directory'],
            ['git', 'A git repository'],
          ]}
          onChoose={set('source')}
        />
        {draft.source !== 'empty' && (
          <Field
            label={draft.source === 'git' ? 'Path of the repository on the server' : 'Path on the server'}
            hint="It is copied; nothing changes it before a publish"
            {...field('path', '/workspace')}
          />
        )}
      </Section>
      <Section title="Policy">
        <Field
          label="Hold calls of these tools"
          hint="Names separated by commas, such as bash, edit. The built-in rules hold what is risky in any case"
          {...field('hold', '/policy')}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={draft.holdPublish}
            onChange={({ target }) => set('holdPublish')(target.checked)}
          />
          Hold the publish, too
        </label>
      </Section>
      <details>
        <summary>Limits, validators and labels</summary>
        <div className="stack roomy">
          <LimitsFields field={field} />
        </div>
      </details>
      {error !== undefined && <ProblemNote error={error} />}
      <div className="dialog-foot">
        <Button kind="main" type="submit" whyNot={isSending ? 'Being sent' : whyNot}>
          Submit the run
        </Button>
      </div>
    </form>
  );
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="card pad stack roomy" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

const errorsAt = (errors: readonly PointerError[], pointer: string): readonly PointerError[] =>
  errors.filter((each) => each.pointer === pointer || each.pointer.startsWith(`${pointer}/`));

/** Malformed JSON is not sent. */
function jsonMistakes(draft: Draft): { plan?: string } {
  if (draft.goal !== 'plan' || draft.plan.trim() === '') return {};
  const parsed = parseJson(draft.plan);
  return parsed.ok ? {} : { plan: `Line ${parsed.line}, column ${parsed.column}: ${parsed.detail}` };
}

interface Typed {
  value: string;
  onChange: (value: string) => void;
  errors: readonly PointerError[];
}

interface Props extends Typed {
  label: string;
  hint?: string;
  rows?: number;
  code?: boolean;
  malformed?: string | undefined;
}

type TextName = { [Name in keyof Draft]: string extends Draft[Name] ? Name : never }[keyof Draft];

/** Ties a field to its text of the draft, and to the part of the request that the API's errors point at. */
export type FieldOf = (name: TextName, pointer: string) => Typed;

/** A labelled field with what the API says of it. */
export function Field({ label, value, onChange, hint, rows, code = false, malformed, errors }: Props) {
  const id = useId();
  const isWrong = errors.length > 0 || malformed !== undefined;
  const shared = { id, value, 'aria-invalid': isWrong || undefined, 'aria-describedby': `${id}-hint` };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...shared} spellCheck={false} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <textarea
          {...shared}
          rows={rows}
          className={code ? 'code' : ''}
          spellCheck={!code}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      <div id={`${id}-hint`}>
        {malformed !== undefined && (
          <p className="mistake" role="alert">
            <Text>{malformed}</Text>
          </p>
        )}
        {errors.map(({ pointer, detail }) => (
          <p key={pointer + detail} className="mistake">
            <Text>{`${pointer} ${detail}`}</Text>
          </p>
        ))}
        {hint !== undefined && <p className="hint">{hint}</p>}
      </div>
    </div>
  );
}
