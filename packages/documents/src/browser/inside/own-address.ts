/** Data and blobs come from the page itself. */
const ofPage = new Set(['data:', 'blob:', 'about:']);

/** Whether an address belongs to a program in the same sandbox. No other program answers there: a refusal names the reason. */
export function isOwnAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (ofPage.has(protocol)) return true;
  return /^(https?|wss?):$/.test(protocol) && isLoopback(hostname);
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127\.\d+\.\d+\.\d+$/.test(hostname);
