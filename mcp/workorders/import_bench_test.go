package workorders

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The sizes at which a company's book is compared with the tenth of it: time
// for each job must not grow, and look-ups must take the same.
var bookSizes = []int{10_000, 100_000}

// BenchmarkImport takes in a company with so many work orders. µs/job must be
// the same for both sizes; MB is the most memory in use meanwhile, KB/job what
// of it each job takes.
func BenchmarkImport(b *testing.B) {
	for _, jobs := range bookSizes {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			source := bigFiles(b, jobs)
			path := filepath.Join(b.TempDir(), "book.db")
			book, err := Open(path, Options{Now: demoNow})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = book.Close() }()
			base := heap()
			peak := watchHeap()
			for b.Loop() {
				if _, err := book.Import(b.Context(), ImportOptions{Paths: []string{source}}); err != nil {
					b.Fatal(err)
				}
			}
			most := max(0, int64(peak())-int64(base))
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(jobs), "µs/job")
			b.ReportMetric(float64(most)/(1<<20), "MB")
			b.ReportMetric(float64(most)/1024/float64(jobs), "KB/job")
		})
	}
}

// BenchmarkLookups makes each kind of call in books of several sizes.
func BenchmarkLookups(b *testing.B) {
	for _, jobs := range bookSizes {
		book := bigBook(b, jobs)
		d := newDirect(b, book)
		job := func(i int) string { return fmt.Sprintf("WO-%04d", 1001+i%jobs) }
		for name, f := range map[string]func(i int) (string, args){
			"lookup": func(i int) (string, args) { return "lookup_work_order", args{"work_order_id": job(i)} },
			"availability": func(i int) (string, args) {
				return "find_availability", args{"work_order_id": job(i), "from": at("02T08:00"), "to": at("02T17:00")}
			},
			"note": func(i int) (string, args) { return "add_note", args{"work_order_id": job(i), "text": "x"} },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, jobs), func(b *testing.B) {
				i := 0
				for b.Loop() {
					tool, a := f(i * 7919)
					if _, err := d.call(tool, "U-01", a); err != nil {
						b.Fatal(err)
					}
					i++
				}
			})
		}
	}
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// watchHeap looks at the heap until the function it returns is called, which
// gives the most that was in use.
func watchHeap() (stop func() uint64) {
	var most atomic.Uint64
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 {
		close(end)
		wg.Wait()
		return most.Load()
	}
}
