/** Address of the shared worker's script, put in by the build. */
declare const LIVE_WORKER: string;

declare module '*.css';

/** Named by types of the contract; no value of this type reaches the page. */
interface Buffer extends Uint8Array {}
