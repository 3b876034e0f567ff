export {
  type BrowserSearch,
  type FoundBrowser,
  findBrowser,
  openPageBrowser,
  type PageBrowser,
  type ShotQuery,
} from './browser/open-browser.ts';
export { type Documents, openDocuments } from './open-documents.ts';
