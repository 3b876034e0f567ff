export * from './open-run-view.ts';
export * from './screen.ts';
