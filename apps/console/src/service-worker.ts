/** Makes the page installable. No answer is kept: each approval is read from the server. */
const worker = globalThis as unknown as {
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: () => void): void;
};
worker.addEventListener('install', () => void worker.skipWaiting());
