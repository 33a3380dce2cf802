//go:build !race

package agent_test

// raceDetector says that every step takes several times as long.
const raceDetector = false
