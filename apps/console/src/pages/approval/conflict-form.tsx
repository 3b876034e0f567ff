import type { Conflict, FileVersion, Resolution } from '@holdpoint/contract';
import { useState } from 'react';
import { Note } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import { EditFoot, type FormProps } from './fields-form.tsx';
import { isPlan } from './shown.ts';

type Choice = 'run' | 'source' | 'run_lines' | 'source_lines';

/** Three versions of each file in conflict, and a choice for each. */
export function ConflictForm(form: FormProps) {
  const { preview } = form.approval;
  const conflicts = isPlan(preview) ? preview.conflicts : [];
  const [choices, setChoices] = useState<Record<string, Choice>>({});
  const left = conflicts.filter(({ path }) => choices[path] === undefined).length;
  const whyNot = left > 0 ? `Choose a version for ${left === 1 ? 'one more file' : `${left} more files`}` : undefined;
  const resolutions = conflicts.map((conflict) => resolutionOf(conflict, choices[conflict.path] ?? 'source'));
  return (
    <>
      {conflicts.map((conflict) => (
        <FileConflict
          key={conflict.path}
          conflict={conflict}
          choice={choices[conflict.path]}
          onChoose={(choice) => setChoices((before) => ({ ...before, [conflict.path]: choice }))}
        />
      ))}
      <EditFoot {...form} args={{ resolutions }} whyNot={whyNot} />
    </>
  );
}

function resolutionOf({ path, versions, merge }: Conflict, take: Choice): Resolution {
  const seen = versions?.source?.oid ?? null;
  if (take === 'run' || take === 'source') return { path, seen, take };
  return { path, seen, take, digest: merge?.digest ?? '' };
}

interface FileProps {
  conflict: Conflict;
  choice: Choice | undefined;
  onChoose: (choice: Choice) => void;
}

function FileConflict({ conflict: { path, detail, versions, merge }, choice, onChoose }: FileProps) {
  const options: [Choice, string][] = [
    ['run', 'The version of the run'],
    ['source', 'The version of the source'],
    ...(merge === undefined
      ? []
      : ([
          ['run_lines', "Merged; the run's lines where both changed"],
          ['source_lines', "Merged; the source's lines where both changed"],
        ] satisfies [Choice, string][])),
  ];
  return (
    <fieldset className="stack card conflict">
      <legend>
        <code>
          <Text>{path}</Text>
        </code>
      </legend>
      <p className="muted">
        <Text>{detail}</Text>
      </p>
      {versions === undefined ? (
        <Note tone="bad" title="This has to be settled in the source first" />
      ) : (
        <div className="versions">
          <Version path={path} name="When the run began" version={versions.base} />
          <Version path={path} name="Source" version={versions.source} />
          <Version path={path} name="Run" version={versions.run} />
        </div>
      )}
      <div>
        {options.map(([value, word]) => (
          <label key={value} className="check">
            <input type="radio" name={`take ${path}`} checked={choice === value} onChange={() => onChoose(value)} />
            {word}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const Version = ({ path, name, version }: { path: string; name: string; version: FileVersion | null }) => (
  <div className="stack">
    <h3>{name}</h3>
    <LongText label={`${name}: ${path}`}>
      <pre>
        {version === null ? (
          <span className="muted">no file</span>
        ) : version.text === null ? (
          <span className="muted">{version.bytes} bytes that are no text, or too many to show</span>
        ) : (
          <Text>{version.text}</Text>
        )}
      </pre>
    </LongText>
  </div>
);
