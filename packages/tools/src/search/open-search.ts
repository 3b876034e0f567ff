import { brave } from './brave.ts';
import { duckDuckGoHtml } from './duckduckgo-html.ts';
import type { SearchPort } from './port.ts';
import { searxng } from './searxng.ts';
import { tavily } from './tavily.ts';

export const searchProviders = ['duckduckgo', 'brave', 'tavily', 'searxng'] as const;

/** The operator's choice of a search engine. */
export interface SearchSettings {
  provider: (typeof searchProviders)[number];
  endpoint?: string | undefined;
  key?: string | undefined;
}

/** @throws Error that names the missing or wrong setting, and never its value */
export function openSearch({ provider, endpoint, key }: SearchSettings): SearchPort {
  switch (provider) {
    case 'duckduckgo':
      return duckDuckGoHtml({ endpoint });
    case 'brave':
      return brave({ key: needed(provider, key, endpoint), endpoint });
    case 'tavily':
      return tavily({ key: needed(provider, key, endpoint), endpoint });
    case 'searxng':
      if (endpoint !== undefined) return searxng({ endpoint });
      throw new Error('HOLDPOINT_WEB_SEARCH=searxng needs HOLDPOINT_SEARCH_ENDPOINT, the address of its /search.');
    default:
      return provider satisfies never;
  }
}

/** A key goes over HTTPS, or to this machine. */
function needed(provider: string, key: string | undefined, endpoint: string | undefined): string {
  if (key === undefined || !/^[\x21-\x7e]{8,500}$/.test(key)) {
    throw new Error(`HOLDPOINT_WEB_SEARCH=${provider} needs HOLDPOINT_WEB_SEARCH_KEY: 8 to 500 characters of ASCII.`);
  }
  const { protocol, hostname } = new URL(endpoint ?? 'https://default.invalid/');
  if (protocol !== 'https:' && !['127.0.0.1', '[::1]', 'localhost'].includes(hostname)) {
    throw new Error('HOLDPOINT_SEARCH_ENDPOINT must begin with https://, because a key is sent there.');
  }
  return key;
}
