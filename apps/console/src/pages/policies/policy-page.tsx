import { useId, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { isProblem } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useWhyNot } from '../../session/session.tsx';
import { Missing } from '../missing/missing-page.tsx';
import { PolicyEditor } from './policy-editor.tsx';
import { deletePolicy, type StoredPolicy, usePolicy, useVersions } from './use-policies.ts';

/** A policy: its text, its versions, and what it does with calls. The version stands in the address. */
export function PolicyPage({ name }: { name: string }) {
  useTitle(`Policy ${name}`);
  return (
    <div className="page">
      <h1>
        <Link href="/policies">Policies</Link> / <Text most={80}>{name}</Text>
      </h1>
      <Needs scope="policies:read" to="to read policies">
        <Stored name={name} />
      </Needs>
    </div>
  );
}

function Stored({ name }: { name: string }) {
  const [search] = useSearchParams();
  const version = search.get('version') ?? undefined;
  const { data, error, isPending } = usePolicy(name, version);
  const newest = usePolicy(name, undefined);
  if (isProblem(error) && error.status === 404) return <Missing what="policy" id={name} />;
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the policy" />;
  return (
    <>
      <Head policy={data} isNewest={newest.data?.version === data.version} />
      {/* Another version has another text; a version that was saved under an open text does not replace the text. */}
      <PolicyEditor
        key={`${name} ${version}`}
        name={name}
        version={newest.data?.version ?? data.version}
        initial={JSON.stringify(data.document, null, 2)}
      />
    </>
  );
}

function Head({ policy, isNewest }: { policy: StoredPolicy; isNewest: boolean }) {
  const { name, version, by, created_at, digest } = policy;
  const [isDeleting, setDeleting] = useState(false);
  const whyNot = useWhyNot('policies:write');
  return (
    <div className="row-line flat">
      <div className="stack tight">
        <span>
          Version {version}, by <Text>{by}</Text> <Ago at={created_at} />
          {!isNewest && ' (not the newest)'}
        </span>
        <code className="muted small">{digest}</code>
      </div>
      <Versions name={name} shown={isNewest ? undefined : version} />
      <Button slim kind="danger" whyNot={whyNot} onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {isDeleting && <Delete policy={policy} onClose={() => setDeleting(false)} />}
    </div>
  );
}

function Versions({ name, shown }: { name: string; shown: number | undefined }) {
  const [, go] = useLocation();
  const id = useId();
  const versions = useVersions(name);
  const all = versions.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <span className="row">
      <label htmlFor={id} className="small">
        Version
      </label>
      <select
        id={id}
        value={shown ?? ''}
        onChange={({ target: { value } }) => go(`/policies/${name}${value === '' ? '' : `?version=${value}`}`)}
      >
        <option value="">the newest</option>
        {shown !== undefined && !all.some(({ version }) => version === shown) && <option value={shown}>{shown}</option>}
        {all.map(({ version, by, rules }) => (
          <option key={version} value={version}>
            {version} ({rules} rules, {by})
          </option>
        ))}
      </select>
      {versions.hasNextPage && (
        <Button slim onClick={() => void versions.fetchNextPage()}>
          Earlier ones
        </Button>
      )}
    </span>
  );
}

function Delete({ policy: { name, version }, onClose }: { policy: StoredPolicy; onClose: () => void }) {
  const [, go] = useLocation();
  return (
    <AskDialog
      title={`Delete the policy ${name}`}
      word="Delete it"
      danger
      onSend={() => deletePolicy(name, version)}
      onDone={() => go('/policies')}
      onClose={onClose}
    >
      <p>New runs cannot name it. Its versions stay readable, and runs that were accepted with one keep it.</p>
    </AskDialog>
  );
}
