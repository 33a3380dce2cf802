package client

import (
	"context"
	"errors"
	"time"
)

// drainTime is how long the SDK may still read an answer after it has handed
// it over, in order to use the connection again.
const drainTime = time.Second

// deafTime is how long a call of the SDK may take to notice the end of its
// context before it is left behind.
const deafTime = 100 * time.Millisecond

var errOver = errors.New("the operation is over")

// operation gives the context of one call of the SDK. It ends with parent, with
// the Server and after limit. done must be called; it ends the context too, but
// a little later: the SDK still reads the rest of the answer then, and would
// throw away the connection if it could not.
func (s *Server) operation(parent context.Context, limit time.Duration, late error) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	timer := time.AfterFunc(limit, func() { cancel(late) })
	stopParent := context.AfterFunc(parent, func() { cancel(context.Cause(parent)) })
	stopLife := context.AfterFunc(s.life, func() { cancel(errClosed) })
	return ctx, func() {
		stopParent()
		stopLife()
		if ctx.Err() == nil && timer.Stop() {
			time.AfterFunc(drainTime, func() { cancel(errOver) })
		}
	}
}

// answer is what a function gave.
type answer[T any] struct {
	value T
	err   error
}

// maxIdle is how many goroutines wait for the next operation. A new one would
// have to grow its stack for each call of the SDK again.
const maxIdle = 2

// start runs fn apart, so that nobody needs to wait for it.
func start[T any](s *Server, fn func() (T, error)) <-chan answer[T] {
	came := make(chan answer[T], 1)
	job := func() {
		v, err := fn()
		came <- answer[T]{v, err}
	}
	select {
	case s.jobs <- job:
	default:
		go s.worker(job)
	}
	return came
}

// worker runs a job, and then others until the Server is closed, unless enough
// workers wait already.
func (s *Server) worker(job func()) {
	for {
		job()
		if s.idle.Add(1) > maxIdle {
			s.idle.Add(-1)
			return
		}
		select {
		case job = <-s.jobs:
			s.idle.Add(-1)
		case <-s.life.Done():
			return
		}
	}
}

// bounded runs fn, and leaves it behind if it does not end soon after ctx.
func bounded[T any](ctx context.Context, s *Server, fn func() (T, error)) (T, error) {
	came := start(s, fn)
	select {
	case a := <-came:
		return a.value, a.err
	case <-ctx.Done():
	}
	return afterEnd(ctx, came)
}

// afterEnd gives fn a moment to notice that ctx has ended.
func afterEnd[T any](ctx context.Context, came <-chan answer[T]) (T, error) {
	grace := time.NewTimer(deafTime)
	defer grace.Stop()
	select {
	case a := <-came:
		return a.value, a.err
	case <-grace.C:
		var zero T
		return zero, context.Cause(ctx)
	}
}
