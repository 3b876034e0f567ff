/** Address of the shared worker's script, put in by the build. */
declare const LIVE_WORKER: string;

declare module '*.css';
