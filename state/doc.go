// Package state is the desk's store: agent.Store over the small key-value
// interface of state/kv, whatever stands behind it.
//
// It promises that one record lies under one key, that indexes are written in
// the transaction of the record that they follow from, that a value of any size
// can be stored (large ones lie in chunks, written before the record that names
// them), and that a record which is damaged or newer than this program is
// reported by its key and never dropped or overwritten by reading.
//
// It decides nothing: every transition is a pure function of package agent.
package state
