// Package cli is the command line: commands, configuration and wiring. It is
// the one package that imports everything.
//
// It promises the exit codes and the JSON of every command, one-line errors
// that say what to do next, and that commands which only read start no server
// and send nothing (doctor, which is for looking at servers, starts them). It holds no rules about turns or calls: those are the
// engine's.
package cli
