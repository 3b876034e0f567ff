import type { PolicySummary } from '@holdpoint/contract/wire';
import { Link, useLocation } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useWhyNot } from '../../session/session.tsx';
import { PolicyTabs } from './policy-tabs.tsx';
import { usePolicyList } from './use-policies.ts';

/** The named policies of the tenant, each in its newest version. */
export function PoliciesPage() {
  useTitle('Policies');
  const [, go] = useLocation();
  const whyNot = useWhyNot('policies:write');
  return (
    <div className="page">
      <div className="page-head">
        <h1>Policies</h1>
        <Button kind="main" icon="plus" whyNot={whyNot} onClick={() => go('/new-policy')}>
          New policy
        </Button>
      </div>
      <PolicyTabs />
      <Needs scope="policies:read" to="to read policies">
        <PolicyList />
      </Needs>
    </div>
  );
}

function PolicyList() {
  const { data, error, isPending } = usePolicyList();
  if (error) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the policies" />;
  return (
    <>
      {data.damaged?.map(({ id, detail, next }) => (
        <Note key={id} tone="bad" title={<Text>{`${id} cannot be shown`}</Text>}>
          <Text>{`${detail} ${next}`}</Text>
        </Note>
      ))}
      {data.data.length === 0 && (
        <Empty icon="shield" title="No policy has a name yet">
          <p>The built-in rules hold what is risky, and a run may have rules of its own.</p>
        </Empty>
      )}
      {data.data.length > 0 && (
        <ul className="card rows" aria-label="Policies">
          {data.data.map((policy) => (
            <PolicyLine key={policy.name} policy={policy} />
          ))}
        </ul>
      )}
    </>
  );
}

const PolicyLine = ({ policy: { name, version, rules, by, created_at } }: { policy: PolicySummary }) => (
  <li className="line plain">
    <div className="line-body">
      <div className="one-line">
        <Link href={`/policies/${name}`} className="line-link" data-row="">
          {name}
        </Link>
      </div>
      <div className="line-meta">
        <span>
          {rules} {rules === 1 ? 'rule' : 'rules'}
        </span>
        <span>version {version}</span>
        <span>
          <Text>{by}</Text> <Ago at={created_at} />
        </span>
        {name === 'operator' && <span>binds every run of the installation</span>}
      </div>
    </div>
  </li>
);
