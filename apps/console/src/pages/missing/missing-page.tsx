import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Empty } from '../../parts/empty.tsx';
import { Text } from '../../parts/text.tsx';
import { useTitle } from '../../parts/use-title.ts';

/** An address or an id that nothing stands behind, with a way back. */
export function Missing({ what = 'page', id, children }: { what?: string; id?: string; children?: ReactNode }) {
  useTitle(`No such ${what}`);
  return (
    <div className="page narrow">
      <Empty isPage icon="question" title={`There is no such ${what}`}>
        {id !== undefined && (
          <p>
            <code>
              <Text most={80}>{id}</Text>
            </code>{' '}
            is unknown here. It may belong to another tenant, or have been removed by the retention of this
            installation.
          </p>
        )}
        {children}
        <p className="row">
          <Link href="/approvals" className="button">
            To the inbox
          </Link>
          <Link href="/runs" className="button">
            To the runs
          </Link>
        </p>
      </Empty>
    </div>
  );
}
