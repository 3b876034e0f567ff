/** What the device shows of a push. A lock screen may show it. */
export interface Notice {
  title: string;
  body: string;
  /** A page of the console. */
  page: string;
}

/** Words for a push of this server; a push of a later version shows that there is news. */
export function noticeOf(push: unknown): Notice {
  const { kind, tool, title, risk, status, url } = textsOf(push);
  const page = url !== undefined && /^\/(approvals|runs)\/[a-z]+_[0-9a-f-]+$/.test(url) ? url : '/';
  if (kind === 'approval') return { title: `${tool} waits for a decision`, body: `${title} (${risk} risk)`, page };
  if (kind === 'end') return { title: `Run ${status}`, body: title ?? '', page };
  return { title: 'News from Holdpoint', body: '', page };
}

function textsOf(push: unknown): Record<string, string | undefined> {
  if (typeof push !== 'object' || push === null) return {};
  return Object.fromEntries(Object.entries(push).filter(([, value]) => typeof value === 'string'));
}
