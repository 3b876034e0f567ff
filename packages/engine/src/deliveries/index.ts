export { type DeliverDeps, deliverTo, type Sent } from './deliver.ts';
export { startMarking } from './mark-events.ts';
export { idOf as receiverId, type ReceiverState } from './state.ts';
export { type DeliveryStore, openDeliveryStore, type StoredReceiver } from './store.ts';
