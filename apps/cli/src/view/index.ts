export { openRunView, type RunView, type RunViewOptions } from './open-run-view.ts';
export { nestedScreen, openScreen, type Screen } from './screen.ts';
