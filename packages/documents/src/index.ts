export { type BrowserSearch, type FoundBrowser, findBrowser } from './browser/find-browser.ts';
export { openPageBrowser, type PageBrowser, type ShotQuery } from './browser/open-browser.ts';
export { type Documents, openDocuments } from './open-documents.ts';
