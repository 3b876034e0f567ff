import { useId, useState } from 'react';
import { Link } from 'wouter';
import { useTitle } from '../../parts/use-title.ts';
import { takeText } from './handed-over.ts';
import { PolicyEditor } from './policy-editor.tsx';

const example = `# YAML or JSON. For each part of a call the first rule that matches decides.
rules:
  - match: { tool: bash, command: { program: git, subcommand: push } }
    action: hold
    reason: a push leaves this machine
publish: hold
`;

/** A policy under a name that has none yet. */
export function NewPolicyPage() {
  useTitle('New policy');
  const id = useId();
  const [name, setName] = useState('');
  const [initial] = useState(() => takeText() ?? example);
  return (
    <div className="page">
      <h1>
        <Link href="/policies">Policies</Link> / new
      </h1>
      <div className="field policy-name">
        <label htmlFor={id}>Name</label>
        <input
          id={id}
          value={name}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => setName(target.value)}
        />
        <p className="hint">
          Lower case letters, digits and hyphens. <code>operator</code> binds every run of the installation.
        </p>
      </div>
      <PolicyEditor name={name.trim()} version={0} initial={initial} />
    </div>
  );
}
