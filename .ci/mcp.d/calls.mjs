// One call of every tool of the work-orders server, in an order in which each
// of them succeeds on a new demo book, whose clock starts on 1 December 2026 at
// 09:00. Arguments may depend on what earlier calls gave.
export const calls = [
  ['lookup_work_order', () => ({ work_order_id: 'WO-1044' })],
  ['search_work_orders', () => ({ text: 'heater' })],
  ['list_technicians', () => ({})],
  ['find_availability', () => ({ work_order_id: 'WO-1047', from: '2026-12-02T08:00:00+01:00', to: '2026-12-02T17:00:00+01:00' })],
  ['get_schedule', () => ({ technician: 'T-01' })],
  ['search_parts', () => ({ query: 'heating element', fits_work_order_id: 'WO-1044' })],
  ['quote_part', () => ({ sku: 'HE-3000-230', quantity: 1, work_order_id: 'WO-1044' })],
  ['list_part_orders', () => ({})],
  ['schedule_visit', () => ({ work_order_id: 'WO-1041', technician: 'T-01', start: '2026-12-03T15:00:00+01:00', end: '2026-12-03T16:00:00+01:00' })],
  ['reschedule_visit', () => ({ visit_id: 'V-2029', start: '2026-12-04T08:00:00+01:00', end: '2026-12-04T10:00:00+01:00' })],
  ['cancel_visit', () => ({ visit_id: 'V-2029', reason: 'the customer sold the house' })],
  ['order_part', () => ({ work_order_id: 'WO-1044', sku: 'HE-3000-230', quantity: 1, idempotency_key: 'every-tool-once' })],
  ['cancel_part_order', (given) => ({ part_order_id: given.order_part.part_order.id, reason: 'ordered to see that it works' })],
  ['add_note', () => ({ work_order_id: 'WO-1044', text: 'Seen by a foreign client.' })],
];
