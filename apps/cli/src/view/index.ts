export { openRunView } from './open-run-view.ts';
export { openScreen } from './screen.ts';
