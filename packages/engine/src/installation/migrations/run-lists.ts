import { ensureFacets } from '../../log/approval-lists.ts';
import { lookSoon, ownerOf } from '../../log/indexes.ts';
import { activeIndex, approvalIndexOf, runIndexOf } from '../../log/keys.ts';
import { listTenants, pagesOf } from '../../log/pages.ts';
import { correctLists } from '../../log/run-lists.ts';
import type { Migration } from './migration.ts';

const page = 200;

/** The lists follow from the states, as they do when the sweeper corrects them. */
export const runLists: Migration = {
  from: 2,
  to: 3,
  title:
    'runs are listed by status, reason and label, approvals by what they are about, and each active run is due for a look',
  async run({ redis }) {
    for (const tenant of await listTenants(redis)) {
      for await (const ids of pagesOf(redis, runIndexOf(tenant), page)) await correctLists(redis, tenant, ids);
      for await (const ids of pagesOf(redis, approvalIndexOf(tenant), page)) {
        for (const id of ids) {
          const runId = await ownerOf(redis, id);
          if (runId !== null) await ensureFacets(redis, runId, id);
        }
      }
    }
    for await (const ids of pagesOf(redis, activeIndex, page)) await Promise.all(ids.map((id) => lookSoon(redis, id)));
  },
};
