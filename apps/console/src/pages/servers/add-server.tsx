import { type ReactNode, useId, useState } from 'react';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Choices } from '../../parts/choices.tsx';
import { Note } from '../../parts/note.tsx';
import { type EntryKind, entryOf } from './entry-form.ts';
import { addServer, useRereadServers } from './use-servers.ts';

const kinds: readonly (readonly [EntryKind, string])[] = [
  ['address', 'An address'],
  ['program', 'A program'],
];

/** Adding lets no run use the server: that is the acceptance. */
export function AddServer({ onAdded, onClose }: { onAdded: (name: string) => void; onClose: () => void }) {
  const reread = useRereadServers();
  const [kind, setKind] = useState<EntryKind>('address');
  const add = (given: FormData) =>
    addServer({ name: String(given.get('name')).trim(), server: entryOf(kind, given) }).finally(reread);
  return (
    <AskDialog
      title="Add a server"
      word="Add it and ask it for its tools"
      onSend={add}
      onDone={({ name }) => onAdded(name)}
      onClose={onClose}
    >
      <Choices label="What it is" value={kind} options={kinds} onChoose={setKind} />
      <Field label="Name" hint="Small letters, digits and -">
        {(id) => <input id={id} name="name" required autoComplete="off" spellCheck={false} />}
      </Field>
      {kind === 'address' ? <AddressFields /> : <ProgramFields />}
    </AskDialog>
  );
}

const AddressFields = () => (
  <>
    <Field label="Address" hint="Streamable HTTP">
      {(id) => <input id={id} name="url" type="url" required autoComplete="off" spellCheck={false} />}
    </Field>
    <Field label="Headers, one a line" hint="Authorization: Bearer {NAME} has the secret NAME of the secret store">
      {(id) => <textarea id={id} name="headers" rows={2} spellCheck={false} />}
    </Field>
  </>
);

const ProgramFields = () => (
  <>
    <Note tone="warn" title="It is code that runs in sandboxes">
      On the files of each run that calls its tools, and never outside a sandbox.
    </Note>
    <Field label="Program" hint="As commands of a run find it">
      {(id) => <input id={id} name="command" required autoComplete="off" spellCheck={false} />}
    </Field>
    <Field label="Arguments, one a line">{(id) => <textarea id={id} name="args" rows={2} spellCheck={false} />}</Field>
    <Field label="Variables, one a line" hint="NAME=value, in the clear">
      {(id) => <textarea id={id} name="env" rows={2} spellCheck={false} />}
    </Field>
    <label className="check">
      <input type="checkbox" name="read_only" />
      It gets the files of a run read-only
    </label>
    <label className="check">
      <input type="checkbox" name="network" />
      It reaches the hosts of the run
    </label>
  </>
);

function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </div>
  );
}
