package workorders

import "errors"

var (
	// ErrHeld is returned by [Open] when another process has the book open
	// and did not let go of it within [Options.LockTimeout].
	ErrHeld = errors.New("the book is held by another process")

	// ErrDamaged is returned by [Open] when the file is not a readable book:
	// cut short, overwritten, or holding a record that cannot be decoded.
	// The file has not been changed.
	ErrDamaged = errors.New("the book is damaged")

	// ErrNewer is returned by [Open] when the book was written by a later
	// version of this program. The file has not been changed.
	ErrNewer = errors.New("the book was written by a newer version")

	// ErrNotLoopback is returned by [Server.Start] for an address that other
	// machines could reach, unless [ServerOptions.OtherMachines] allows it.
	ErrNotLoopback = errors.New("the work-orders server listens on loopback addresses only")

	// ErrWeakToken is returned by [Server.Start] where other machines could
	// reach the server and its token could be guessed.
	ErrWeakToken = errors.New("other machines may only reach the work-orders server with a token of 32 characters or more")

	// ErrNoServer is returned by [ReadAddr] when no server has left its
	// address there.
	ErrNoServer = errors.New("no work-orders server has left its address")
)
