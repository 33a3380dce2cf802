package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"deskhand/agent"
	"deskhand/state"
	"deskhand/state/bolt"
)

// keepAlive lets clients keep their connections, as real ones do.
func (d *door) keepAlive(clients int) *door {
	d.http.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	return d
}

// onDisk is a door on a bbolt file.
func onDisk(b *testing.B, change ...func(*Options)) *door {
	b.Helper()
	backend, err := bolt.Open(filepath.Join(b.TempDir(), "desk.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = backend.Close() })
	return newDoorOn(b, state.New(backend), change...)
}

// share lets clients do n pieces of work between them.
func share(clients, n int, work func(client int) error) error {
	var wg sync.WaitGroup
	todo, failed := make(chan struct{}, n), make(chan error, clients)
	for range n {
		todo <- struct{}{}
	}
	close(todo)
	for client := range clients {
		wg.Go(func() {
			for range todo {
				if err := work(client); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// BenchmarkTurns measures turns with one answer of the model, over HTTP and then
// by the engine alone, on a file.
func BenchmarkTurns(b *testing.B) {
	for _, clients := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			d := onDisk(b, func(o *Options) { o.MaxTurns = clients }).keepAlive(clients)
			began := time.Now()
			if err := share(clients, b.N, func(int) error {
				r, err := d.fetch(context.Background(), "POST", "/dispatchAgent", `{"data":{"message":"hello"}}`)
				if err == nil && r.status != http.StatusOK {
					err = errors.New(r.body)
				}
				return err
			}); err != nil {
				b.Fatal(err)
			}
			served := time.Since(began)
			began = time.Now()
			if err := share(clients, b.N, func(int) error {
				_, err := d.engine.Send(context.Background(), agent.SendRequest{Text: "hello"})
				return err
			}); err != nil {
				b.Fatal(err)
			}
			bare := time.Since(began)
			b.ReportMetric(float64(b.N)/served.Seconds(), "turns/s")
			b.ReportMetric(float64(served.Milliseconds())*float64(min(clients, b.N))/float64(b.N), "ms/turn")
			b.ReportMetric(float64(served)/float64(bare), "x-engine")
		})
	}
}

// BenchmarkCrowd measures the decisions of two hundred clients over HTTP, and
// the same of as many callers of the engine's verbs.
func BenchmarkCrowd(b *testing.B) {
	for range b.N {
		b.StopTimer()
		d := newDoor(b, func(o *Options) { o.MaxTurns = crowdClients }).keepAlive(crowdClients)
		served := crowd{decide: d.overHTTP}
		ids := d.wait(crowdApprovals)
		b.StartTimer()
		served.run(b, ids)
		b.StopTimer()
		served.check(b, d)
		d = newDoor(b)
		bare := crowd{decide: d.byVerb}
		bare.run(b, d.wait(crowdApprovals))
		bare.check(b, d)
		b.StartTimer()
		for _, p := range []int{50, 99} {
			over, verb := percentile(served.took, p), percentile(bare.took, p)
			b.ReportMetric(float64(over.Microseconds())/1000, fmt.Sprintf("ms-p%d", p))
			b.ReportMetric(float64(over)/float64(verb), fmt.Sprintf("x-verb-p%d", p))
		}
	}
}

// byVerb decides without HTTP.
func (d *door) byVerb(_ int, id agent.ApprovalID, approved bool) (won bool, heard string, err error) {
	r := agent.DecideRequest{Approval: id}
	if approved {
		_, err = d.engine.Approve(context.Background(), r)
	} else {
		_, err = d.engine.Deny(context.Background(), r)
	}
	var decided *agent.DecidedError
	if errors.As(err, &decided) {
		return false, problemOf(err).Message, nil
	}
	return err == nil, "", err
}

func percentile(took []time.Duration, p int) time.Duration {
	slices.Sort(took)
	return took[(len(took)-1)*p/100]
}

// BenchmarkMemory measures what a thousand waiting approvals hold of a server on
// a file, per approval.
func BenchmarkMemory(b *testing.B) {
	for range b.N {
		d := onDisk(b)
		d.wait(1) // names and definitions are known
		before := heap()
		d.wait(crowdApprovals)
		held := int64(heap()) - int64(before)
		b.ReportMetric(float64(held)/crowdApprovals, "B/waiting")
		if _, err := d.engine.Waiting(b.Context()); err != nil { // the engine is alive until here
			b.Fatal(err)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers gave back
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
