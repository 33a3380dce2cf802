//go:build !race

package workorders

// raceEnabled says that the race detector slows everything down.
const raceEnabled = false
