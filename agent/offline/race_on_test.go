//go:build race

package offline

// raceFactor stretches time limits under the race detector.
const raceFactor = 10
